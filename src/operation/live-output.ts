/**
 * Keeps the latest lines that a command writes, for people who watch it. Nothing of it is recorded: the result is, when the command has
 * ended. `docs/decisions/0052-live-output.md` has the reasons.
 *
 * LIVE-OUTPUT-1 Only whole lines are shown, and known secrets and pieces of them are redacted when they are read. Half a line could end
 *    within a secret.
 * LIVE-OUTPUT-2 Nothing is shown of a command that a value with the label `secret` went into: it may print what it made of the secret.
 * LIVE-OUTPUT-3 Escape sequences and control characters are removed. What a carriage return overwrites is left out, as on a terminal.
 * LIVE-OUTPUT-4 The memory that it takes is limited, whatever the command writes.
 */
import { stripVTControlCharacters } from 'node:util';
import type { OutputReader, OutputSoFar } from '../runtime/ports.js';
import type { SecretRegistry } from '../runtime/secrets/secret-registry.js';

/** UTF-16 units of the lines that are kept, and of a line that is still being written. */
const KEPT_UNITS_MAX = 16 * 1024;
const LINE_UNITS_MAX = 64 * 1024;
/** Units of a line that are shown. */
const SHOWN_UNITS_MAX = 2000;

export class LiveOutput implements OutputReader {
  private lines: string[] = [];
  private keptUnits = 0;
  private isCut = false;
  /** The last line ended with a carriage return: the next one takes its place. */
  private isOverwritten = false;
  private readonly unfinished = { stdout: '', stderr: '' };

  constructor(
    private readonly secrets: Pick<SecretRegistry, 'hideParts'>,
    private readonly isWithheld: boolean,
  ) {}

  write(text: string, stream: 'stdout' | 'stderr'): void {
    if (this.isWithheld) return;
    const parts = this.latest(this.unfinished[stream] + text).split(/(\r\n|\n|\r(?!$))/);
    const rest = parts.pop() as string;
    for (let i = 0; i < parts.length; i += 2) this.add(parts[i] as string, parts[i + 1] === '\r');
    this.unfinished[stream] = rest.length > LINE_UNITS_MAX ? TOO_LONG : rest;
    this.dropEarliest();
  }

  read(): OutputSoFar {
    const { isCut, isWithheld } = this;
    return { text: this.lines.map((line) => this.shown(line)).join('\n'), isCut, isWithheld };
  }

  private add(line: string, isOverwritten: boolean): void {
    if (this.isOverwritten) this.keptUnits -= sizeOf(this.lines.pop() ?? '');
    this.isOverwritten = isOverwritten;
    const kept = line.startsWith(TOO_LONG) ? TOO_LONG : line;
    this.lines.push(kept);
    this.keptUnits += sizeOf(kept);
  }

  /** Leaves lines out that would be dropped at once, so that a command which writes a lot is not slowed down. */
  private latest(text: string): string {
    const end = text.lastIndexOf('\n');
    const from = end < KEPT_UNITS_MAX ? -1 : text.lastIndexOf('\n', end - KEPT_UNITS_MAX);
    if (from < 0) return text;
    this.isCut = true;
    return text.slice(from + 1);
  }

  /** LIVE-OUTPUT-4 */
  private dropEarliest(): void {
    let dropped = 0;
    for (; this.keptUnits > KEPT_UNITS_MAX && dropped < this.lines.length - 1; dropped++)
      this.keptUnits -= sizeOf(this.lines[dropped] as string);
    if (dropped === 0) return;
    this.lines = this.lines.slice(dropped);
    this.isCut = true;
  }

  private shown(line: string): string {
    const text = this.secrets.hideParts(stripVTControlCharacters(line)).replaceAll(CONTROL, '');
    return text.length > SHOWN_UNITS_MAX ? `${text.slice(0, SHOWN_UNITS_MAX)}…` : text;
  }
}

/** With the end of the line. */
function sizeOf(line: string): number {
  return line.length + 1;
}

const TOO_LONG = `[a line of more than ${LINE_UNITS_MAX} characters]`;
const CONTROL = /[^\P{Cc}\t]/gu;
