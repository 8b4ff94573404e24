/** Prints the last lines of a run that made calls, was recorded or paused: what it came to, and how to continue. calls.md 14.5. */
import type { RunReport } from '../../src/api/commands/script.js';
import { renderCallSummary, renderNoCalls } from '../render/call-summary.js';
import { oneLine } from '../render/one-line.js';
import { nextCommand } from '../render/resume-command.js';
import { shellWords } from '../../journal/shell-words.js';
import type { Io } from '../terminal/io.js';
import type { Execution } from './run-script.js';

type Concluded = Pick<Execution, 'argv' | 'name' | 'request' | 'script'>;

export function concludeRun(io: Io, { argv, name, request, script }: Concluded, report: RunReport, elapsedMs: number): void {
  const { calls, journal, pause, resume, unrecordedResults } = report;
  const next = resume === undefined ? undefined : nextCommand({ name, argv, pause }, resume);
  if (calls && !request.structured) {
    io.stderr(renderCallSummary(calls, { elapsedMs, next }));
    if (unrecordedResults !== undefined) io.stderr(`nothing was recorded; ${script.kind === 'file' ? KEEPS : KEEPS_TEXT}\n`);
  }
  if (calls === undefined && journal !== undefined && !request.structured) io.stderr(renderNoCalls(elapsedMs));
  if (pause && resume !== undefined) io.stderr(timerCommand(io, nextCommand({ name, argv }, resume)));
}

const KEEPS = '--checkpoint keeps the results';
const KEEPS_TEXT = 'of a script in a file, --checkpoint keeps the results';

/** A timer begins in another folder than the user. `next` has the budget that the user gave, also where a person is told a larger one. */
export function timerCommand({ workingDirectory }: Pick<Io, 'workingDirectory'>, next: string): string {
  return `${oneLine(`${shellWords(['cd', workingDirectory])} && ${next}`)}\n`;
}
