/** The flags of `mlld FILE`, `mlld -e` and `mlld run NAME`. Every other flag belongs to the script. world.md 17.3. */
import { CALL_FLAGS } from './call-flags.js';
import { grouped, type CommandForm, type FlagRow } from './rows.js';

/** Flags about what a run shows of itself; pipelines have them too. */
export const SHOWN_FLAGS: readonly FlagRow[] = [
  {
    flags: ['progress'],
    value: 'required',
    written: 'plain|tty|json|none',
    does: 'how progress is shown on standard error (default: tty on a terminal, else plain, a line each half minute)',
    choices: ['plain', 'tty', 'json', 'none'],
    usage: '--progress plain, tty, json or none',
  },
  { flags: ['verbose'], value: 'none', does: 'print each warning; by default those of one cause are one line with their number' },
];

/** They decide which results are recorded and reused. */
const REUSE_FLAGS: readonly FlagRow[] = [
  { flags: ['checkpoint'], value: 'none', does: 'record the run, and reuse the results of llm calls that earlier runs recorded' },
  {
    flags: ['resume'],
    value: 'optional',
    written: 'target',
    does:
      'continue where the last run ended; @fn, @fn:N, \'@fn("item")\' or "checkpoint" executes again from there, ' +
      '\'@fn(= "whole text")\' and the path of a call only these, failed only what failed or was rejected',
    completes: 'resume-target',
  },
  { flags: ['fresh', 'new'], value: 'none', does: 'record the run, and never again reuse what was recorded before' },
  {
    flags: ['fork'],
    value: 'required',
    written: 'script',
    does: 'reuse the results of another script first; repeatable',
    completes: 'recorded',
    repeatable: true,
    usage: '--fork SCRIPT, the name or path of a script with recorded runs',
  },
  {
    flags: ['changed'],
    value: 'required',
    written: 'ask|ask-guards|serve',
    does:
      'for calls whose definition was edited since: ask executes them again, ask-guards only those to which other guards or hooks apply, ' +
      'serve reuses their results (default: serve)',
    choices: ['ask', 'ask-guards', 'serve'],
    usage: '--changed ask',
  },
  {
    flags: ['plan'],
    value: 'none',
    does: 'print what these flags would reuse and execute, and why; nothing runs; --json prints the plan as JSON',
  },
  { flags: ['keep-files'], value: 'none', does: 'keep declared output files that were changed since, and reuse the result' },
  { flags: ['no-checkpoint'], value: 'none', does: 'record and reuse nothing, whatever the script says' },
];

/** They are about what goes into a script, and what comes out of it. */
const SCRIPT_FLAGS: readonly FlagRow[] = [
  { flags: ['eval', 'e'], value: 'required', form: 'file', written: 'code', does: 'run this code instead of a file' },
  {
    flags: ['inject'],
    alsoFlags: ['payload'],
    value: 'required',
    written: 'name=value',
    does: 'a module that the script can import: @name={"json": 1}, @name=@file; repeatable',
    repeatable: true,
    usage: '--inject @name={"key": "value"}, or @name=@file',
  },
  {
    flags: ['state'],
    value: 'required',
    form: 'file',
    written: 'value',
    does: '@file.json, a JSON object or KEY=TEXT: members of @state; repeatable',
    repeatable: true,
  },
  {
    flags: ['mlld-env'],
    value: 'required',
    written: 'value',
    does: 'K=V,K=V or a file of K=V lines, added to the environment',
  },
  { flags: ['structured'], value: 'none', does: 'print one JSON object: output, effects, exports, state writes, denials' },
  { flags: ['no-stream'], value: 'none', does: 'print the document at the end, normalised' },
  {
    flags: ['error-behavior'],
    value: 'required',
    written: 'halt|continue',
    does: 'what a failing command does (default: continue)',
    choices: ['continue', 'halt'],
  },
  { flags: ['mode'], value: 'required', written: 'strict|markdown', does: 'how the file is read', choices: ['strict', 'markdown'] },
  { flags: ['md'], value: 'none', does: 'short for --mode markdown' },
  {
    flags: ['strict'],
    value: 'none',
    does: 'refuse a script for which the check before the run has warnings; of a workflow script: exit with 1 when an agent failed',
  },
];

/** They say what is done when the journal or a process is lost, and which processes execute calls. */
const PROCESS_FLAGS: readonly FlagRow[] = [
  {
    flags: ['timeout'],
    value: 'required',
    written: 'duration',
    does: 'end the run after this time: 900ms, 30s, 5m, 1h',
    usage: '--timeout 30s, or 900ms, 5m, 1h, or a number of milliseconds',
  },
  {
    flags: ['journal-wait'],
    value: 'required',
    written: 'duration',
    does: "how long calls wait for a journal that can't be written (default: 60s)",
    usage: '--journal-wait 60s, or 900ms, 5m, 0, or a number of milliseconds',
  },
  { flags: ['unrecorded'], value: 'none', does: 'continue without a record when the journal is lost, instead of pausing the run' },
  { flags: ['keep-orphans'], value: 'none', does: 'wait for commands that a killed run left running, instead of ending them' },
  {
    flags: ['workers'],
    value: 'optional',
    written: '@fn,@fn',
    does:
      'have llm calls executed by workers of the store of a team (mlld worker); with names of functions only theirs, ' +
      'also those that read files of the project',
  },
  {
    flags: ['lanes'],
    value: 'required',
    written: 'count',
    does: 'with --workers: calls that this run executes itself at a time (default: 0)',
    usage: '--workers --lanes 4',
  },
];

const MESSAGE_FLAGS: readonly FlagRow[] = [
  ...SHOWN_FLAGS,
  { flags: ['no-warn'], value: 'none', form: 'run', does: 'hide the warnings of the check before the run' },
  { flags: ['metrics'], value: 'none', does: 'print the total time to standard error' },
  { flags: ['debug', 'd'], value: 'none', does: 'log progress and timing to standard error' },
];

export const RUN_FLAGS: readonly FlagRow[] = [
  { flags: ['help', 'h'], value: 'none' },
  ...grouped('Recording, and reusing results:', REUSE_FLAGS),
  ...grouped('Calls that fail, cost and wait:', CALL_FLAGS),
  ...grouped('The script:', SCRIPT_FLAGS),
  ...grouped('The journal, and processes:', PROCESS_FLAGS),
  ...grouped('Messages:', MESSAGE_FLAGS),
  // Reserved, so that no script comes to depend on them.
  { flags: ['output', 'o'], value: 'required', form: 'file', instead: 'redirect the output: mlld FILE > OUT' },
  { flags: ['format'], value: 'required', form: 'file', instead: 'the document is written as it is' },
  { flags: ['watch'], value: 'none', form: 'file', instead: 'start the command again when a file has changed' },
  { flags: ['json'], value: 'none', form: 'file', instead: '--structured prints one JSON object, --plan --json the plan' },
];

export function runFlags(form: CommandForm): readonly FlagRow[] {
  return RUN_FLAGS.filter((row) => row.form === undefined || row.form === form);
}

/** Returns every spelling that a flag is understood by. */
export function spellingsOf({ flags, alsoFlags = [] }: FlagRow): readonly string[] {
  return [...flags, ...alsoFlags];
}

/** Spellings that a user may miss by a letter. The case of a single letter has a meaning, as in other programs. */
export function suggestedFlags(form: CommandForm): readonly string[] {
  return runFlags(form).flatMap((row) => (row.instead === undefined ? spellingsOf(row).filter((flag) => flag.length > 1) : []));
}
