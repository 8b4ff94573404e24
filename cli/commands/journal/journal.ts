/** `mlld journal list|show|explain|verify`: what ran, what happened in it, and whether the record is whole. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { JournalEvent } from '../../../journal/event.js';
import { startOf, type RunId } from '../../../journal/ids.js';
import type { JournalStore, RunFile, ScanOptions } from '../../../journal/store.js';
import { matchesFilter, type EventFilter } from '../../../replay/reports/summary/describe.js';
import { recordedCounts } from '../../../replay/fold/call-counts.js';
import { crashedRuns } from '../../../replay/reports/summary/crashed-runs.js';
import { summariseRun } from '../../../replay/reports/summary/summarise-run.js';
import type { RunReport } from '../../../replay/reports/summary/summary.js';
import { verifyRun } from '../../../replay/reports/audit/verify.js';
import { scriptName, type Project } from '../../../src/session/project.js';
import { allRuns, findRun, isCleanup, recordedScript, resolveRun } from '../../../src/session/recorded-run.js';
import { batched, type Lines } from '../../terminal/batched.js';
import type { Io } from '../../terminal/io.js';
import { addAuditCommand } from './audit.js';
import { addDiffCommand } from './diff.js';
import { addBundleCommands } from './bundle.js';
import { addExplainCommand } from './explain.js';
import { addReportCommand } from './report.js';
import { addStatsCommand } from './stats.js';
import { addReplayCommand } from './replay.js';
import { addPostMortemCommand } from './postmortem.js';
import { addExportCommand } from './export.js';
import { addGcCommand } from './gc.js';
import { addRedactCommand } from './redact.js';
import { projectStore, reportDefects } from '../../project-store.js';
import { examples } from '../../render/examples.js';
import { renderEvent, renderRuns, renderVerification, type ListedRun } from '../../render/reports/journal.js';
import { paintForReport } from '../../render/paint.js';

const FOLLOW_EVERY_MS = 200;

const RUN_ARGUMENT = 'run id or a unique beginning of one, `latest`, a script (its latest run), SCRIPT@2 (the one before)';

/** `onFailure` is called when a journal turns out not to be sound. */
export function addJournalCommand(program: Command, io: Io, onFailure: (status?: number) => void): void {
  const command = program
    .command('journal')
    .description('what ran, what happened in it, and how to go on')
    .addHelpText(
      'after',
      examples([
        'mlld journal list',
        'mlld journal show nightly --type call --follow',
        'mlld journal show nightly@2 --json | jq .type',
        'mlld journal verify latest',
      ]),
    );
  command
    .command('list')
    .addHelpText('after', examples(['mlld journal list', 'mlld journal list nightly --json']))
    .description('list the recorded runs, the latest first')
    .argument('[script]', 'name or path of a script')
    .option('--json', 'print the runs as JSON')
    .action((script: string | undefined, options: JsonOption) => list(io, script, options));
  command
    .command('show')
    .addHelpText(
      'after',
      examples([
        'mlld journal show latest',
        'mlld journal show nightly --type call --follow',
        'mlld journal show nightly@2 --json | jq .type',
      ]),
    )
    .description('print the events of a run, one a line')
    .argument('<run>', RUN_ARGUMENT)
    .option('--type <type>', 'only events of this type (call.completed) or group (call); repeatable', collect)
    .option('--op <path>', 'only this operation and what is inside it')
    .option('--follow', 'go on while the run does')
    .option('--json', 'print the events as NDJSON, unchanged')
    .action((run: string, options: ShowOptions) => show(io, run, options));
  addExplainCommand(command, io, RUN_ARGUMENT);
  addReplayCommand(command, io, RUN_ARGUMENT, onFailure);
  addPostMortemCommand(command, io, RUN_ARGUMENT);
  addAuditCommand(command, io, RUN_ARGUMENT, onFailure);
  addDiffCommand(command, io, RUN_ARGUMENT, onFailure);
  addStatsCommand(command, io);
  addExportCommand(command, io, RUN_ARGUMENT);
  addGcCommand(command, io);
  addRedactCommand(command, io, RUN_ARGUMENT);
  addBundleCommands(command, io, RUN_ARGUMENT);
  addReportCommand(command, io, RUN_ARGUMENT);
  command
    .command('verify')
    .addHelpText('after', examples(['mlld journal verify latest']))
    .description('check that what a run recorded is there and undamaged; exit status 1 when it is not')
    .argument('<run>', RUN_ARGUMENT)
    .option('--json', 'print the report as JSON')
    .action(async (run: string, options: JsonOption) => {
      if (!(await verify(io, run, options))) onFailure();
    });
}

interface JsonOption {
  readonly json?: true;
}

async function list(io: Io, script: string | undefined, { json }: JsonOption): Promise<void> {
  const { project, store } = await projectStore(io);
  const workflow = script === undefined ? undefined : await recordedScript(store, project, script);
  const files = await allRuns(store, workflow);
  const crashed = new Map<RunId, RunReport>();
  for (const name of new Set(files.map(({ ref }) => ref.workflow))) {
    const itsFiles = files.filter(({ ref }) => ref.workflow === name);
    for (const [run, report] of await crashedRuns(store, name, itsFiles)) crashed.set(run, report);
  }
  const runs = [];
  for (const file of files.toReversed()) runs.push(await listedRun(io, store, project, file, crashed.get(file.ref.run)));
  io.stdout(json ? `${JSON.stringify(runs, undefined, 2)}\n` : renderRuns(runs, paintForReport(io)));
}

/** A run that ended in order says at its end what it came to; only of one that goes on all is read. */
async function listedRun(io: Io, store: JournalStore, project: Project, file: RunFile, crashed: RunReport | undefined): Promise<ListedRun> {
  const { ref, finished } = file;
  const startedMs = startOf(ref.run);
  const common = {
    run: ref.run,
    script: scriptName(project, ref.workflow),
    workflow: ref.workflow,
    started: new Date(startedMs).toISOString(),
  };
  const counts = finished && recordedCounts(finished.totals);
  if (finished !== undefined && counts !== undefined) {
    const status = isCleanup(file) ? 'cleaned' : finished.status;
    return { ...common, durationMs: Date.parse(finished.ts) - startedMs, status, ...counts, inFlight: [] };
  }
  if (file.isOfUnknownVersion) {
    return { ...common, durationMs: null, status: 'unreadable', executed: null, reused: null, failed: null, costUsd: null, inFlight: [] };
  }
  const {
    elapsedMs = null,
    status,
    executed,
    reused,
    failed,
    costUsd,
    inFlight,
  } = crashed ?? (await summariseRun(store, file, { nowMs: io.todayMs() }));
  const calls = inFlight.map(({ fn, preview = null, elapsedMs }) => ({ fn, preview, elapsedMs }));
  return { ...common, durationMs: elapsedMs, status, executed, reused, failed, costUsd, inFlight: calls };
}

interface ShowOptions extends JsonOption {
  readonly type?: readonly string[];
  readonly op?: string;
  readonly follow?: true;
}

async function show(io: Io, text: string, { type: types, op, follow, json }: ShowOptions): Promise<void> {
  const { project, store } = await projectStore(io);
  const file = await resolveRun(store, project, text);
  const filter: EventFilter = { types, op };
  const lines = batched(io.stdout);
  const { print, close } = json ? await printerOfJson(lines) : await printerOfText(io, lines);
  const onDefect = reportDefects(io);
  const visit = (event: JournalEvent): void => {
    if (!matchesFilter(event, filter)) return;
    shown = true;
    print(event);
  };
  let shown = false;
  let from: ScanOptions['from'];
  for (;;) {
    // Asked before reading: what a run writes before it ends is read then.
    const isRunning = follow === true && (await resolveRun(store, project, file.ref.run)).liveness === 'running';
    const { end } = await store.scan(file.ref, visit, { onDefect, ...(from === undefined ? {} : { from }) });
    from = end;
    lines.end();
    if (!isRunning) break;
    await sleep(FOLLOW_EVERY_MS);
  }
  await close();
  lines.end();
  if (!shown && (types !== undefined || op !== undefined))
    await (await import('../../options/no-match.js')).reportNoMatch(io, store, file.ref, filter);
}

interface Printer {
  print(event: JournalEvent): void;
  /** All that was printed has been added to the lines. */
  close(): Promise<void>;
}

async function printerOfText(io: Io, lines: Lines): Promise<Printer> {
  const paint = paintForReport(io);
  return { print: (event) => lines.add(renderEvent(event, paint)), close: async () => undefined };
}

async function printerOfJson(lines: Lines): Promise<Printer> {
  const { finished } = await import('node:stream/promises');
  const { default: ndjson } = await import('ndjson');
  const encoder = ndjson.stringify();
  encoder.on('data', (line: Buffer | string) => lines.add(String(line)));
  return {
    print: (event) => void encoder.write(event),
    close: async () => {
      encoder.end();
      await finished(encoder);
    },
  };
}

async function verify(io: Io, text: string, { json }: JsonOption): Promise<boolean> {
  const { project, store } = await projectStore(io);
  const { ref } = await findRun(store, project, text);
  const report = await verifyRun(store, ref);
  io.stdout(json ? `${JSON.stringify(report, undefined, 2)}\n` : renderVerification(report, paintForReport(io)));
  return report.ok;
}

function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}
