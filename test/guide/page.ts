/**
 * A page of the guide is a story in one folder: its fenced blocks write files and run commands, in order. The line of a fence says which:
 * three backticks and `mlld file=hello.mld` write the file, `sh` or no language holds commands (`$ ` before each) and what they print.
 */

export interface FileStep {
  readonly kind: 'file';
  readonly line: number;
  readonly name: string;
  readonly text: string;
}

export interface CommandStep {
  readonly kind: 'command';
  /** The line of the command in the page, from 0. */
  readonly line: number;
  readonly command: string;
  /** The lines between this command and the next one, as the page shows them. */
  readonly shown: readonly string[];
  /** The first of these lines in the page, from 0. */
  readonly shownFrom: number;
}

/** The answers of the stand-ins for agent programs from here on: `<!-- agents: {...} -->`, with the members of a plan of theirs. */
export interface AgentsStep {
  readonly kind: 'agents';
  readonly line: number;
  /** As JSON. */
  readonly plan: string;
}

/** A server on a loopback address from here on: `<!-- server: VARIABLE {...} -->`, with the members of `Served` (`server.ts`). */
export interface ServerStep {
  readonly kind: 'server';
  readonly line: number;
  /** The environment variable with the server's address. */
  readonly variable: string;
  /** As JSON. */
  readonly plan: string;
}

/** Does what is no command of a reader, such as an edit or a kill: `<!-- meanwhile: COMMAND -->`, which ends with status 0. */
export interface MeanwhileStep {
  readonly kind: 'meanwhile';
  readonly line: number;
  readonly command: string;
}

/** A block that does nothing: no command in it, and no file to write. */
export interface IdleStep {
  readonly kind: 'idle';
  readonly line: number;
}

export type Step = FileStep | CommandStep | AgentsStep | ServerStep | MeanwhileStep | IdleStep;

const FENCE = /^```(\w*)\s*(.*)$/;
const FILE = /^file=(\S+)$/;
const AGENTS = /^<!-- agents: (.*) -->$/;
const SERVER = /^<!-- server: ([A-Z_]+) (.*) -->$/;
const MEANWHILE = /^<!-- meanwhile: (.*) -->$/;
const COMMAND_LANGUAGES = ['', 'sh'];
const PROMPT = '$ ';

export function stepsOf(page: string): Step[] {
  const lines = page.split('\n');
  const steps: Step[] = [];
  for (let at = 0; at < lines.length; at++) {
    const [, plan] = AGENTS.exec(lines[at] ?? '') ?? [];
    if (plan !== undefined) steps.push({ kind: 'agents', line: at, plan });
    const [, variable, served] = SERVER.exec(lines[at] ?? '') ?? [];
    if (variable !== undefined && served !== undefined) steps.push({ kind: 'server', line: at, variable, plan: served });
    const [, meanwhile] = MEANWHILE.exec(lines[at] ?? '') ?? [];
    if (meanwhile !== undefined) steps.push({ kind: 'meanwhile', line: at, command: meanwhile });
    const [, language, rest = ''] = FENCE.exec(lines[at] ?? '') ?? [];
    if (language === undefined) continue;
    const from = at + 1;
    const end = lines.indexOf('```', from);
    if (end < 0) throw new Error(`line ${at + 1}: this block has no end`);
    const inside = lines.slice(from, end);
    const [, name] = FILE.exec(rest.trim()) ?? [];
    if (name !== undefined) steps.push({ kind: 'file', line: at, name, text: `${inside.join('\n')}\n` });
    else if (COMMAND_LANGUAGES.includes(language) && inside[0]?.startsWith(PROMPT)) steps.push(...commandsOf(inside, from));
    else steps.push({ kind: 'idle', line: at });
    at = end;
  }
  return steps;
}

/** A backslash at the end of a command continues it in the next line. */
function commandsOf(lines: readonly string[], from: number): CommandStep[] {
  const commands: CommandStep[] = [];
  for (let at = 0; at < lines.length;) {
    const line = at;
    let command = (lines[at++] ?? '').slice(PROMPT.length);
    while (command.endsWith('\\') && at < lines.length) command += `\n${lines[at++]}`;
    const shownFrom = at;
    while (at < lines.length && !lines[at]?.startsWith(PROMPT)) at++;
    commands.push({ kind: 'command', line: from + line, command, shown: lines.slice(shownFrom, at), shownFrom: from + shownFrom });
  }
  return commands;
}

/** Tells whether a page shows what was printed: what differs from run to run is the same to it, and `…` stands for any text or lines. */
export function isShown(shown: readonly string[], printed: readonly string[]): boolean {
  return new RegExp(`^${patternOf(shown)}$`).test(printed.map((line) => `${steady(line)}\n`).join(''));
}

function patternOf(shown: readonly string[]): string {
  return shown.map((line) => (line.trim() === '…' ? '(?:.*\\n)*?' : `${inLine(steady(line))}\\n`)).join('');
}

function inLine(line: string): string {
  return line
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join('.*?');
}

/** Returns a line with ids of runs, numbers of events, times and durations replaced, and with one blank where a column was filled up. */
function steady(line: string): string {
  return line
    .replace(/\b\d{8}-\d{6}-\d{3}-[a-z0-9]{4}\b/g, 'RUN')
    .replace(/\b\d{4}-\d\d-\d\d\b/g, 'DAY')
    .replace(/\b\d\d:\d\d:\d\d(?:\.\d+)?Z?/g, 'TIME')
    .replace(/\bDAY \d\d:\d\d [A-Z][\w+:-]*/g, 'DAY TIME') // with the zone of the machine
    .replace(/\b(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?(?:ms|s)\b/g, 'LASTED')
    .replace(/\bevent \d+/g, 'event N')
    .replace(/^ *\d+ TIME/, 'N TIME')
    .replace(/ {2,}/g, ' ')
    .trimEnd();
}
