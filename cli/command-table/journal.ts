/** The commands about recorded runs: `mlld journal …` and `mlld checkpoint …`. */
import { FORMAT_FLAG, InvalidValue, JSON_FLAG, NO_PAGER_FLAG, type ArgumentRow, type CommandRow, type FlagRow } from './rows.js';
import { texts, wholeNumber } from './values.js';

const RUN_TEXT = 'run id or a unique beginning of one, `latest`, a script (its latest run), SCRIPT@2 (the one before)';
const RUN: ArgumentRow = { written: '<run>', does: RUN_TEXT, completes: 'run' };
const OPTIONAL_RUN: ArgumentRow = { ...RUN, written: '[run]' };
const SCRIPT: ArgumentRow = { written: '<script>', does: 'name or path of a script', completes: 'recorded' };
const OPTIONAL_SCRIPT: ArgumentRow = { ...SCRIPT, written: '[script]' };

function operation(does: string): FlagRow {
  return { flags: ['op'], value: 'required', written: 'path', does, completes: 'operation' };
}

function eventNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidValue('the number of an event is expected: mlld journal show numbers them');
}

export const JOURNAL_COMMANDS = {
  checkpoint: {
    does: 'list, inspect or clear what is recorded for a script',
    group: 'Look back:',
    examples: ['mlld checkpoint list nightly', 'mlld checkpoint inspect nightly', 'mlld checkpoint clean llm/run/nightly.mld'],
  },
  'checkpoint list': {
    does: 'list the results that a run would reuse, in the order of their first call',
    arguments: [SCRIPT],
    flags: [JSON_FLAG('print the entries as JSON')],
    examples: ['mlld checkpoint list nightly'],
  },
  'checkpoint inspect': {
    does: 'print the recorded runs and results of a script as JSON',
    arguments: [SCRIPT],
    flags: [JSON_FLAG('accepted for symmetry: the report is always JSON')],
    examples: ["mlld checkpoint inspect nightly | jq '.entries[].fn'"],
  },
  'checkpoint clean': {
    does: 'invalidate all recorded results of a script; its journal stays readable',
    arguments: [SCRIPT],
    flags: [JSON_FLAG('print what was invalidated as JSON')],
    examples: ['mlld checkpoint clean llm/run/nightly.mld'],
  },
  journal: {
    does: 'look at recorded runs: what happened, what it cost, how to continue',
    group: 'Look back:',
    examples: [
      'mlld journal list',
      'mlld journal show nightly --type call --follow',
      'mlld journal show nightly@2 --json | jq .type',
      'mlld journal verify latest',
    ],
  },
  'journal list': {
    does: 'list the recorded runs, the latest first',
    arguments: [OPTIONAL_SCRIPT],
    flags: [
      {
        flags: ['last'],
        value: 'required',
        written: 'runs',
        does: 'how many runs, counted back from the latest (default: 20 on a terminal, else all)',
        parse: wholeNumber(1, 999_999_999),
      },
      {
        flags: ['status'],
        value: 'required',
        written: 'status',
        does: 'only runs with this status, as the table shows it; repeatable',
        repeatable: true,
        parse: texts,
      },
      { flags: ['failed'], value: 'none', does: 'only runs that need somebody: they failed, crashed, paused, or calls are unresolved' },
      { flags: ['since'], value: 'required', written: 'time', does: 'only runs that began since: 12h, 7d, 2w, or a time in ISO 8601' },
      { flags: ['script'], value: 'required', written: 'script', does: 'the same as the argument', completes: 'recorded' },
      { flags: ['workers'], value: 'none', does: "also the runs of a team's workers, each below the run that it served" },
      FORMAT_FLAG('a row for each run'),
      JSON_FLAG('print the runs as JSON'),
      NO_PAGER_FLAG,
    ],
    examples: [
      'mlld journal list',
      'mlld journal list nightly --failed --since 7d',
      'mlld journal list --status paused --status crashed',
      'mlld journal list --workers',
      'mlld journal list --last 100 --format csv > runs.csv',
    ],
  },
  'journal show': {
    does: 'print the events of a run, one per line',
    arguments: [RUN],
    flags: [
      {
        flags: ['type'],
        value: 'required',
        written: 'type',
        does: 'only events of this type (call.completed) or group (call); repeatable',
        repeatable: true,
        parse: texts,
      },
      operation('only this operation and what is inside it'),
      { flags: ['follow'], value: 'none', does: 'keep printing for as long as the run is in flight' },
      { flags: ['full'], value: 'none', does: 'also print arguments, results and every other member of an event, whole' },
      JSON_FLAG('print the events as NDJSON, unchanged'),
      NO_PAGER_FLAG,
    ],
    examples: [
      'mlld journal show latest',
      'mlld journal show nightly --type call --follow',
      "mlld journal show nightly --op 'main/for#0[3]' --full",
      'mlld journal show nightly@2 --json | jq .type',
    ],
  },
  'journal cat': {
    does: 'print the arguments and the result of one call, whole; of a reused call, what it was reused from',
    arguments: [RUN, { written: '<path>', does: 'the call, as journal explain prints it', completes: 'operation' }],
    flags: [
      { flags: ['prompt'], value: 'none', does: 'print only the arguments: one text as it is, else JSON' },
      { flags: ['result'], value: 'none', does: 'print only the result: a text as it is, else JSON' },
      JSON_FLAG('print the call as JSON'),
      NO_PAGER_FLAG,
    ],
    examples: [
      "mlld journal cat nightly 'main/for#0[3]/review#0'",
      "mlld journal cat latest 'main/for#0[3]/review#0' --result > review.md",
      "mlld journal cat latest 'main/for#0[3]/review#0' --json | jq .attempts",
    ],
  },
  'journal explain': {
    does: 'list the llm calls of a run: whether each result was reused, and if not, why',
    arguments: [RUN, { written: '[path]', does: 'only calls in this operation, as journal show prints it', completes: 'operation' }],
    flags: [JSON_FLAG('print the report as JSON'), NO_PAGER_FLAG],
    examples: [
      'mlld journal explain nightly',
      "mlld journal explain latest 'main/for#0[3]'",
      "mlld journal explain nightly --json | jq '.calls[].miss'",
    ],
  },
  'journal replay': {
    does: 'run a recorded run again with its recorded results: no model is called, no command runs and no file is written',
    arguments: [OPTIONAL_RUN],
    flags: [
      {
        flags: ['until'],
        value: 'required',
        written: 'seq',
        does: 'stop after this event and show the variables in scope',
        parse: eventNumber,
      },
      {
        flags: ['at'],
        value: 'required',
        written: 'name',
        does: 'stop at this checkpoint, or where this node of a pipeline first starts, and show the variables in scope',
        completes: 'checkpoint',
      },
      {
        flags: ['print'],
        value: 'required',
        written: '@name',
        does: 'print the value of a variable (of a pipeline: of a context key) where it stopped; repeatable',
        repeatable: true,
        parse: texts,
      },
      { flags: ['script'], value: 'required', written: 'file', does: 'replay this script, or pipeline, with the recorded results' },
      { flags: ['current'], value: 'none', does: 'replay script, modules and templates as they are now' },
      { flags: ['step'], value: 'none', does: 'stop before each recorded result; Enter goes to the next, @name prints a variable' },
      {
        flags: ['save-test'],
        value: 'required',
        written: 'dir',
        does: 'save the run as a test: a folder that needs nothing of the project',
      },
      { flags: ['check'], value: 'required', written: 'dir', does: 'replay a saved test instead of a run' },
      { flags: ['all'], value: 'none', does: 'report all divergences, not only the first' },
      JSON_FLAG('print the report as JSON instead of what the script writes'),
    ],
    examples: [
      'mlld journal replay latest',
      'mlld journal replay nightly --at "after collecting" --print @findings',
      'mlld journal replay nightly --script nightly.mld --all',
      'mlld journal replay nightly --current',
      'mlld journal replay release.dot --at review --print @last_response',
      'mlld journal replay nightly --save-test test/runs/nightly',
      'mlld journal replay --check test/runs/nightly',
    ],
    exits: [[3, 'the replay diverged from the record']],
  },
  'journal postmortem': {
    does: 'say why a run did not reach its end, what it has recorded, and how to continue',
    arguments: [{ ...OPTIONAL_RUN, does: `${RUN_TEXT}; default: the latest that did not complete and was not resumed to its end since` }],
    flags: [JSON_FLAG('print the report as JSON'), NO_PAGER_FLAG],
    examples: ['mlld journal postmortem', 'mlld journal postmortem nightly', 'mlld journal postmortem nightly@2 --json | jq .failures'],
  },
  'journal audit': {
    does: 'list what a run did: calls, commands, files, guards, errors of hooks',
    arguments: [RUN],
    flags: [
      operation('only this operation and what is inside it'),
      { flags: ['label'], value: 'required', written: 'label', does: 'only operations with this label, and what is inside them' },
      { flags: ['file'], value: 'required', written: 'path', does: 'who wrote and read this file, and which calls led to it' },
      { flags: ['from'], value: 'required', written: 'time', does: 'only from this time on, ISO 8601' },
      { flags: ['to'], value: 'required', written: 'time', does: 'only up to this time, ISO 8601' },
      FORMAT_FLAG('a row for each entry'),
      JSON_FLAG('print the audit as JSON'),
      { flags: ['csv'], value: 'none', does: 'the same as --format csv' },
      NO_PAGER_FLAG,
    ],
    examples: [
      'mlld journal audit nightly',
      "mlld journal audit latest --label llm --op 'main/for#0[3]'",
      'mlld journal audit nightly --file out/report.md',
      'mlld journal audit nightly --from 2026-11-21T08:00Z --csv > audit.csv',
    ],
    exits: [[1, 'the journal of the run is damaged, or an error']],
  },
  'journal diff': {
    does: 'compare two runs',
    arguments: [
      { ...RUN, written: '<left>' },
      { ...RUN, written: '<right>' },
    ],
    flags: [
      { flags: ['fork-point'], value: 'none', does: 'show where two runs with a common beginning parted' },
      JSON_FLAG('print the report as JSON'),
      NO_PAGER_FLAG,
    ],
    examples: [
      'mlld journal diff nightly@2 nightly',
      'mlld journal diff nightly@2 nightly --json | jq .calls.changed',
      'mlld journal diff draft-a draft-b --fork-point',
    ],
    exits: [
      [0, 'the runs are the same'],
      [1, 'they differ'],
      [2, 'they could not be compared'],
    ],
  },
  'journal stats': {
    does: 'show hit rate, cost, durations and failures over many runs, by function and by day',
    arguments: [OPTIONAL_SCRIPT],
    flags: [
      { flags: ['last'], value: 'required', written: 'runs', does: 'how many runs, counted back from the latest', default: '100' },
      FORMAT_FLAG('a row for each function'),
      JSON_FLAG('print the figures as JSON'),
      NO_PAGER_FLAG,
    ],
    examples: [
      'mlld journal stats',
      'mlld journal stats nightly --last 20',
      'mlld journal stats --json | jq .days',
      'mlld journal stats nightly --format csv > functions.csv',
    ],
  },
  'journal export': {
    does: 'export a run to other programs: tracing services, trace viewers, spreadsheets',
    arguments: [RUN],
    flags: [
      {
        flags: ['format'],
        value: 'required',
        written: 'format',
        does: 'otlp-json: OpenTelemetry spans; chrome-trace: for ui.perfetto.dev; ndjson: the events; csv: the llm calls',
        choices: ['otlp-json', 'chrome-trace', 'ndjson', 'csv'],
      },
      {
        flags: ['endpoint'],
        value: 'required',
        written: 'url',
        does: 'send the OpenTelemetry spans to this collector; headers are those of OTEL_EXPORTER_OTLP_HEADERS',
      },
      { flags: ['attempts'], value: 'none', does: 'csv: a line for each attempt instead of each call' },
      { flags: ['with-content'], value: 'none', does: 'also export arguments and results of calls as OpenTelemetry messages' },
      { flags: ['output', 'o'], value: 'required', written: 'file', does: 'write to this file instead of standard output' },
    ],
    examples: [
      'mlld journal export latest --format chrome-trace -o run.trace.json',
      'mlld journal export nightly --format csv | sort -t, -k8 -n',
      'mlld journal export nightly --format csv --attempts -o attempts.csv',
      'mlld journal export latest --endpoint http://localhost:4318',
    ],
  },
  'journal gc': {
    does: 'remove whole runs that are no longer needed, then blobs that no run refers to',
    arguments: [{ ...OPTIONAL_SCRIPT, does: 'only runs of this script' }],
    flags: [
      { flags: ['keep'], value: 'required', written: 'n', does: 'keep the latest n runs of each script' },
      { flags: ['older-than'], value: 'required', written: 'duration', does: 'remove only runs that began longer ago: 12h, 30d, 8w' },
      { flags: ['needed'], value: 'none', does: 'also remove runs whose results, checkpoints or forks a later run could use' },
      { flags: ['dry-run'], value: 'none', does: 'only print what would be removed' },
      JSON_FLAG('print the report as JSON'),
    ],
    examples: [
      'mlld journal gc --older-than 30d --dry-run',
      'mlld journal gc nightly --keep 20',
      'mlld journal gc --keep 50 --older-than 8w',
    ],
  },
  'journal redact': {
    does: 'remove content from a recorded run for good; what is left still verifies',
    arguments: [RUN],
    flags: [
      operation('all inputs and results of this operation and of what is inside it'),
      {
        flags: ['match'],
        value: 'required',
        written: 'regex',
        does: 'every payload in which this matches, and the match itself in other texts',
      },
      { flags: ['reason'], value: 'required', written: 'text', does: 'the text that is left in its place', default: 'redacted' },
      { flags: ['dry-run'], value: 'none', does: 'only print how much would be removed' },
      JSON_FLAG('print the report as JSON'),
    ],
    examples: [
      "mlld journal redact nightly --match 'sk-[A-Za-z0-9]{20,}'",
      "mlld journal redact latest --op 'main/for#0[3]' --reason 'asked by customer'",
    ],
  },
  'journal reject': {
    does: 'mark the result of a call as bad: the call is executed again when a run next makes it',
    arguments: [RUN, { written: '<path>', does: 'the call, as journal explain prints it', completes: 'operation' }],
    flags: [
      { flags: ['reason'], value: 'required', written: 'text', does: 'what is wrong with it; journal explain repeats it' },
      { flags: ['undo'], value: 'none', does: 'take the newest rejection back: the result is usable again unless it was replaced since' },
      JSON_FLAG('print what was marked as JSON'),
    ],
    examples: [
      "mlld journal reject nightly 'main/for#0[3]/review#0' --reason 'off topic'",
      "mlld journal reject nightly 'main/for#0[3]/review#0' --undo",
    ],
  },
  'journal bundle': {
    does: 'put a run into one file: its events, results and sources, and the runs whose results it reused',
    arguments: [RUN],
    flags: [
      { flags: ['output', 'o'], value: 'required', written: 'file', does: 'the file to write', mandatory: true },
      {
        flags: ['redact'],
        value: 'required',
        written: 'regex',
        does: 'leave out what this matches, as journal redact does; the journal is not changed',
      },
      JSON_FLAG('print what was bundled as JSON'),
    ],
    examples: ['mlld journal bundle latest -o run.tgz', "mlld journal bundle nightly@2 -o run.tgz --redact 'sk-[A-Za-z0-9]{20,}'"],
  },
  'journal unbundle': {
    does: 'add the runs of a bundle to the journal of this project',
    arguments: [{ written: '<file>', does: 'a file that journal bundle made', completes: { files: ['.tgz'] } }],
    flags: [JSON_FLAG('print what was added as JSON')],
    examples: ['mlld journal unbundle run.tgz'],
  },
  'journal report': {
    does: 'write a run, or with --script how many runs developed, as one HTML page that any browser shows, without a network',
    arguments: [OPTIONAL_RUN],
    flags: [
      { flags: ['output', 'o'], value: 'required', written: 'file', does: 'the page (default: standard output)' },
      { flags: ['diff'], value: 'required', written: 'run', does: 'also show where another run differs', completes: 'run' },
      {
        flags: ['script'],
        value: 'required',
        written: 'script',
        does: 'instead of a run: cost, time, hits and failures of the runs of this script, by run and by function',
        completes: 'recorded',
      },
      {
        flags: ['last'],
        value: 'required',
        written: 'runs',
        does: 'with --script: how many runs, counted back from the latest (default: 30)',
        parse: wholeNumber(1, 100_000),
      },
      JSON_FLAG('print the numbers and spans as JSON instead of a page'),
    ],
    examples: [
      'mlld journal report latest -o report.html',
      'mlld journal report nightly -o report.html --diff nightly@2',
      'mlld journal report --script nightly --last 30 -o trend.html',
    ],
  },
  'journal open': {
    does: 'show the page of a run in a browser: served to this machine only, until Ctrl-C; loading it anew reads the journal anew',
    arguments: [{ ...OPTIONAL_RUN, does: `${RUN_TEXT}; default: latest` }],
    flags: [
      { flags: ['diff'], value: 'required', written: 'run', does: 'also show where another run differs', completes: 'run' },
      { flags: ['no-browser'], value: 'none', does: 'print the address and open nothing' },
    ],
    examples: ['mlld journal open', 'mlld journal open nightly --diff nightly@2', 'mlld journal open latest --no-browser'],
  },
  'journal verify': {
    does: 'check that everything a run recorded is there and undamaged',
    arguments: [RUN],
    flags: [JSON_FLAG('print the report as JSON')],
    examples: ['mlld journal verify latest'],
    exits: [[1, 'the journal of the run is damaged, or an error']],
  },
} as const satisfies { readonly [path: string]: CommandRow };
