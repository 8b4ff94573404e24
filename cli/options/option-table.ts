/** The options of a run, one row each: parsing, help and the check of misspelt flags all read this table. world.md 17.3. */

/** `file` covers `-e` and `/dev/stdin`. */
export type CommandForm = 'file' | 'run';

export interface OptionRow {
  /** Without dashes. The first is the option's name, the others are spellings of it. */
  readonly flags: readonly [string, ...string[]];
  /** The value: none, always one, or one where the next word can be one. */
  readonly value: 'none' | 'required' | 'optional';
  /** Where it is an option; in the other form it is the script's own flag. */
  readonly form: CommandForm | 'both';
  /** As `--help` writes it, and what it does. An option without stays out of the help. */
  readonly help?: readonly [written: string, does: string];
  /** How the value is written, for the error that misses it. */
  readonly usage?: string;
  /** Reserved and not supported: what to do instead. */
  readonly instead?: string;
}

export const OPTION_TABLE: readonly OptionRow[] = [
  { flags: ['help', 'h'], value: 'none', form: 'both' },
  {
    flags: ['timeout'],
    value: 'required',
    form: 'both',
    help: ['--timeout <duration>', 'end the run after 900ms, 30s, 5m, 1h'],
    usage: '--timeout 30s, or 900ms, 5m, 1h, or a number of milliseconds',
  },
  {
    flags: ['inject', 'payload'],
    value: 'required',
    form: 'both',
    help: ['--inject <name=value>', 'a module for the script to import: @name={"json": 1}, @name=@file; repeatable'],
    usage: '--inject @name={"key": "value"}, or @name=@file',
  },
  {
    flags: ['mlld-env'],
    value: 'required',
    form: 'both',
    help: ['--mlld-env <value>', 'K=V,K=V or a file of K=V lines, added to the environment'],
  },
  { flags: ['debug', 'd'], value: 'none', form: 'both', help: ['-d, --debug', 'progress and timing on standard error'] },
  {
    flags: ['checkpoint'],
    value: 'none',
    form: 'both',
    help: ['--checkpoint', 'record the run, and reuse the results of llm calls that earlier runs recorded'],
  },
  {
    flags: ['resume'],
    value: 'optional',
    form: 'both',
    help: ['--resume [target]', 'go on where the last run ended; @fn, @fn:N, \'@fn("item")\' or "checkpoint" executes again from there'],
  },
  {
    flags: ['fresh', 'new'],
    value: 'none',
    form: 'both',
    help: ['--fresh, --new', 'record the run, and never again reuse what was recorded before'],
  },
  {
    flags: ['fork'],
    value: 'required',
    form: 'both',
    help: ['--fork <script>', 'reuse the results of another script first; repeatable'],
    usage: '--fork SCRIPT, the name or path of a script with recorded runs',
  },
  {
    flags: ['changed'],
    value: 'required',
    form: 'both',
    help: [
      '--changed <ask|ask-guards|serve>',
      'execute calls again whose definition was edited since (ask-guards: those only for which other guards or hooks hold), or reuse their results (default: serve)',
    ],
    usage: '--changed ask',
  },
  {
    flags: ['keep-files'],
    value: 'none',
    form: 'both',
    help: ['--keep-files', 'leave declared output files that were changed since, and reuse the result'],
  },
  {
    flags: ['journal-wait'],
    value: 'required',
    form: 'both',
    help: ['--journal-wait <duration>', "how long calls wait for a journal that can't be written (default: 60s)"],
    usage: '--journal-wait 60s, or 900ms, 5m, 0, or a number of milliseconds',
  },
  {
    flags: ['unrecorded'],
    value: 'none',
    form: 'both',
    help: ['--unrecorded', 'go on without a record when the journal is lost, instead of pausing the run'],
  },
  {
    flags: ['keep-orphans'],
    value: 'none',
    form: 'both',
    help: ['--keep-orphans', 'wait for commands that a killed run left running, instead of ending them'],
  },
  {
    flags: ['plan'],
    value: 'none',
    form: 'both',
    help: ['--plan', 'say what these flags would reuse and execute, and why; nothing runs; --json prints the plan as JSON'],
  },
  {
    flags: ['no-checkpoint'],
    value: 'none',
    form: 'both',
    help: ['--no-checkpoint', 'record and reuse nothing, whatever the script says'],
  },
  {
    flags: ['structured'],
    value: 'none',
    form: 'both',
    help: ['--structured', 'print one JSON object: output, effects, exports, state writes, denials'],
  },
  { flags: ['no-stream'], value: 'none', form: 'both', help: ['--no-stream', 'print the document at the end, normalised'] },
  {
    flags: ['error-behavior'],
    value: 'required',
    form: 'both',
    help: ['--error-behavior <halt|continue>', 'what a failing command does (default: continue)'],
  },
  {
    flags: ['mode'],
    value: 'required',
    form: 'both',
    help: ['--mode <strict|markdown>', 'how the file is read; --md is short for markdown'],
  },
  { flags: ['md'], value: 'none', form: 'both' },
  { flags: ['metrics'], value: 'none', form: 'both', help: ['--metrics', 'print the total time on standard error'] },
  {
    flags: ['state'],
    value: 'required',
    form: 'file',
    help: ['--state <value>', '@file.json, a JSON object or KEY=TEXT: members of @state; repeatable'],
  },
  { flags: ['eval', 'e'], value: 'required', form: 'file', help: ['-e, --eval <code>', 'run this code instead of a file'] },
  { flags: ['no-warn'], value: 'none', form: 'run', help: ['--no-warn', 'hide the warnings of the check before the run'] },
  // Reserved, so that no script comes to depend on them.
  { flags: ['output', 'o'], value: 'required', form: 'file', instead: 'redirect the output: mlld FILE > OUT' },
  { flags: ['format'], value: 'required', form: 'file', instead: 'the document is written as it is' },
  { flags: ['watch'], value: 'none', form: 'file', instead: 'start the command again when a file has changed' },
  { flags: ['json'], value: 'none', form: 'file', instead: '--structured prints one JSON object, --plan --json the plan' },
];

export function optionsOf(form: CommandForm): readonly OptionRow[] {
  return OPTION_TABLE.filter((row) => row.form === 'both' || row.form === form);
}

/** Spellings that somebody may miss by a letter, without dashes. The case of a single letter means something, as in other programs. */
export function writtenOptions(form: CommandForm): readonly string[] {
  return optionsOf(form).flatMap(({ flags, instead }) => (instead === undefined ? flags.filter((flag) => flag.length > 1) : []));
}
