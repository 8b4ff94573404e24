/**
 * The form of the table of commands: one row for each command, one for each of its flags and arguments. The parser, the help, the
 * suggestions for misspelt words and the completion of shells are all made from these rows, so a flag exists in all of them or in none.
 * A row is data and imports nothing that takes time to load.
 */

/** `file` covers `mlld FILE`, `-e` and `/dev/stdin`. */
export type CommandForm = 'file' | 'run';

/** Names the words that a shell offers for an argument or the value of a flag. */
export type Completion =
  | 'script-or-pipeline'
  | 'recorded'
  | 'recorded-pipeline'
  | 'run'
  | 'operation'
  | 'resume-target'
  | 'pipeline-node'
  | 'checkpoint'
  | 'topic'
  | { readonly files: readonly string[] };

export interface FlagRow {
  /** Without dashes; the first is the name of the flag. A spelling of one letter is written with one dash. */
  readonly flags: readonly [string, ...string[]];
  /** Spellings that are understood and neither shown nor offered. */
  readonly alsoFlags?: readonly string[];
  readonly value: 'none' | 'required' | 'optional';
  /** The name of the value in the help: `file` for `<file>`. */
  readonly written?: string;
  /** A row without this text stays out of help and completion. */
  readonly does?: string;
  readonly choices?: readonly string[];
  readonly completes?: Completion;
  readonly repeatable?: true;
  readonly mandatory?: true;
  readonly default?: string | number;
  /** Parses the value. Throws `InvalidValue`, or USAGE. */
  readonly parse?: (text: string, earlier: unknown) => unknown;
  /** Shows how the value is written, in the error about one that is missing. */
  readonly usage?: string;
  /** Says what to do instead: the flag is reserved and not supported. */
  readonly instead?: string;
  /** Missing: in both forms. In the other form the flag belongs to the script. */
  readonly form?: CommandForm;
  /** The title that the help has above it and its like; by default `Options:`. */
  readonly group?: string;
}

export interface ArgumentRow {
  /** As usage lines write it: `<run>`, `[script]`. */
  readonly written: string;
  readonly does: string;
  readonly choices?: readonly string[];
  readonly completes?: Completion;
}

export interface CommandRow {
  readonly does: string;
  /** Stands in the list of commands in the place of `does`, where that is long. */
  readonly short?: string;
  /** The title that the list of commands has above it and its like. */
  readonly group?: string;
  readonly alias?: string;
  /** Replaces the usage line that is made from arguments and flags. */
  readonly usage?: string;
  readonly arguments?: readonly ArgumentRow[];
  readonly flags?: readonly FlagRow[];
  /** Flags that hold for one kind of argument only, and stand in the help below a title. */
  readonly otherFlags?: { readonly title: string; readonly flags: readonly FlagRow[] };
  readonly examples: readonly string[];
  /** Lists the exit statuses that differ from 0 for success and 1 for an error. */
  readonly exits?: readonly (readonly [status: number, meaning: string])[];
}

/** Reports a value that a flag can't take; the parser adds which flag it was. */
export class InvalidValue extends Error {}

/** Puts the dashes before a spelling. */
export function dashed(flag: string): string {
  return flag.length === 1 ? `-${flag}` : `--${flag}`;
}

export const JSON_FLAG = (does: string): FlagRow => ({ flags: ['json'], value: 'none', does });

/** A command with this flag prints what is longer than the terminal into the pager of the user. */
export const NO_PAGER_FLAG: FlagRow = { flags: ['no-pager'], value: 'none', does: 'print all at once, also where a pager would show it' };

/** `--json` is the same as `--format json`. */
export const FORMAT_FLAG = (csv: string): FlagRow => ({
  flags: ['format'],
  value: 'required',
  written: 'format',
  does: `table, json, or csv: ${csv}`,
  choices: ['table', 'json', 'csv'],
});

/** Puts flags below a title of the help. */
export function grouped(group: string, flags: readonly FlagRow[]): readonly FlagRow[] {
  return flags.map((flag) => ({ ...flag, group }));
}

/** Titles above commands of several tables. */
export const RUN_GROUP = 'Run:';
export const TOOLS_GROUP = 'Tools:';
