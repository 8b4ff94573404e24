/** Renders reports about recorded runs: `mlld journal list|show|verify`. */
import type { JournalEvent, Json, Payload } from '../../../journal/event.js';
import type { RunId } from '../../../src/api/ids.js';
import { describeEvent } from '../../../src/api/reports/events.js';
import type { CallFigures } from '../../../replay/fold/calls/call-counts.js';
import type { CountedStatus, UnresolvedCalls } from '../../../replay/fold/reported-status.js';
import type { OpenQuestion } from '../../../replay/pipeline/progress.js';
import type { VerifyReport } from '../../../src/api/reports/verify.js';
import { COUNT_COLUMNS, csvLine, USAGE_COLUMNS } from '../csv.js';
import { wrap, wrapAll } from '../wrap.js';
import { clip, oneLine } from '../one-line.js';
import type { Style } from '../style.js';
import { waitingLines } from '../question.js';
import { figures, tableRows, type Cell } from '../table.js';
import { costOrDash, durationOrDash, money, moneyOrDash, time } from '../units.js';

/** Counts, null where the run can't be read. */
type UnlessUnreadable<Counts> = { readonly [name in keyof Counts]: Counts[name] | null };

/** A row of `journal list`; the shape that `--json` prints. */
export interface ListedRun extends UnlessUnreadable<CallFigures & UnresolvedCalls> {
  readonly run: RunId;
  readonly script: string;
  readonly workflow: string;
  /** The user and machine whose run it is, `ada@laptop`, in the store of a team; null in files. */
  readonly person: string | null;
  /** ISO 8601, UTC. */
  readonly started: string;
  readonly durationMs: number | null;
  /** `incomplete`: it reached its end, and calls are unresolved. `unreadable`: a newer program recorded it. */
  readonly status: CountedStatus | 'cleaned' | 'rejected' | 'restored' | 'salvaged' | 'worker' | 'unreadable';
  /** The model that most attempts used. */
  readonly model: string | null;
  /** Those of `reused` that workers have executed for the run, and what they cost there; null for none, and while it is running. */
  readonly atWorkers: number | null;
  readonly atWorkersUsd: number | null;
  /** Present for the run of a worker: its name, and the run that it serves. */
  readonly worker: { readonly for: string; readonly name: string } | null;
  /** The calls in flight; of a crashed run, those in flight when it ended. */
  readonly inFlight: readonly {
    readonly fn: string;
    readonly preview: string | null;
    readonly phase?: string;
    readonly durationMs: number;
  }[];
  /** A running pipeline waits for people to answer these. */
  readonly questions: readonly (OpenQuestion & {
    /** `mlld answer` can answer it; otherwise only the terminal or the standard input of the run can. */
    readonly answerable: boolean;
  })[];
}

const IN_FLIGHT_SHOWN = 5;
const PREVIEW_UNITS_MAX = 40;

/** `none` is what to say where there are no runs. */
export function renderRuns(runs: readonly ListedRun[], style: Style, none = 'No recorded runs.'): string {
  if (runs.length === 0) return `${none}\n`;
  const ofTeam = runs.some(({ person }) => person !== null);
  const columns = [
    { title: 'RUN' },
    { title: 'SCRIPT' },
    ...(ofTeam ? [{ title: 'PERSON' }] : []),
    { title: 'STARTED' },
    ...figures('TOOK'),
    { title: 'STATUS' },
    { title: 'MODEL' },
    ...figures('EXECUTED', 'REUSED', 'FAILED', 'COST', 'SAVED'),
  ];
  const [titles = [], ...lines] = tableRows(
    columns,
    runs.map((run) => rowOf(run, ofTeam, style)),
    style,
  );
  const details = runs.map(({ run, inFlight, questions, status, atWorkers, atWorkersUsd, worker }) => [
    ...(atWorkers === null
      ? []
      : [`  ${atWorkers} of them executed by workers${atWorkersUsd === null ? '' : ` for ${money(atWorkersUsd)}`}`]),
    ...(worker === null ? [] : [`  ${oneLine(worker.name)} for run ${worker.for}`]),
    ...(inFlight.length === 0 ? [] : [`  ${status === 'running' ? 'in flight' : 'was in flight'}: ${inFlightOf(inFlight)}`]),
    ...questions.flatMap((question) => {
      const [asked, how] = waitingLines(question, run);
      return [`  ${style.yellow(asked)}`, `    ${how}`];
    }),
  ]);
  const all = [...titles, ...lines.flatMap((row, index) => [...row, ...wrapAll(details[index] ?? [], style)])];
  return all.map((line) => `${line}\n`).join('');
}

const CSV_COLUMNS = [
  'run',
  'script',
  'started',
  'durationMs',
  'status',
  ...COUNT_COLUMNS,
  'model',
  ...USAGE_COLUMNS,
  'person',
] as const satisfies readonly (keyof ListedRun)[];

/** A row for each run; a column has the name of the member of `--json` that it holds. */
export function runsCsv(runs: readonly ListedRun[]): string {
  return csvLine(CSV_COLUMNS) + runs.map((run) => csvLine(CSV_COLUMNS.map((column) => run[column] ?? undefined))).join('');
}

function rowOf(run: ListedRun, ofTeam: boolean, style: Style): readonly Cell[] {
  const { status } = run;
  return [
    run.run,
    run.script,
    ...(ofTeam ? [run.person ?? '-'] : []),
    time(Date.parse(run.started)),
    durationOrDash(run.durationMs),
    {
      text: status === 'incomplete' ? `incomplete (${(run.unresolved ?? 0) + (run.unresolvedBefore ?? 0)})` : status,
      style: colourOf(status, style),
    },
    run.model ?? '-',
    ...[run.executed, run.reused, run.failed].map((calls) => calls?.toString() ?? '-'),
    costOrDash(run),
    moneyOrDash(run.savedUsd),
  ];
}

function colourOf(status: ListedRun['status'], style: Style): (text: string) => string {
  if (status === 'completed') return style.green;
  if (status === 'cleaned' || status === 'rejected' || status === 'restored' || status === 'salvaged' || status === 'worker')
    return style.dim;
  return status === 'running' || status === 'paused' || status === 'incomplete' ? style.yellow : style.red;
}

function inFlightOf(calls: ListedRun['inFlight']): string {
  const named = calls.slice(0, IN_FLIGHT_SHOWN).map(({ fn, preview, phase }) => {
    const called = `@${fn}(${clip(oneLine(preview ?? ''), PREVIEW_UNITS_MAX)})`;
    return phase === undefined ? called : `${called} [${oneLine(phase)}]`;
  });
  const more = calls.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** One event on one line: number, time of day, operation, sentence. */
export function renderEvent(event: JournalEvent, style: Style): string {
  const op = 'op' in event ? ` ${event.op}` : '';
  const line = `${String(event.seq).padStart(6)} ${style.dim(event.ts.slice(11, 23))}${style.bold(op)} ${oneLine(describeEvent(event))}`;
  return `${wrap(line, style).join('\n')}\n`;
}

/** Shown by the line of the event already, or of use to the journal alone. */
const SHOWN_BEFORE = new Set(['v', 'seq', 'ts', 'run', 'op', 'prev', 'hash', 'type']);
const MEMBER_INDENT = ' '.repeat(9);

/**
 * The members of an event below its line, whole: a line each, and the lines of a text below its name. `resolve` reads what is in a blob;
 * undefined where it may not or can't be read.
 */
export async function renderMembers(
  event: JournalEvent,
  style: Style,
  resolve: (payload: Payload) => Promise<Json | undefined>,
): Promise<string> {
  const lines: string[] = [];
  for (const [name, value] of Object.entries(event) as [string, unknown][]) {
    if (SHOWN_BEFORE.has(name)) continue;
    lines.push(...memberLines(name, isPayload(value) ? ((await resolve(value)) ?? value) : value, style));
  }
  return lines.map((line) => `${MEMBER_INDENT}${line}\n`).join('');
}

function isPayload(value: unknown): value is Payload {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return 'inline' in value || ('blob' in value && 'bytes' in value && !('path' in value));
}

function memberLines(name: string, value: unknown, style: Style): readonly string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);
  const [first = '', ...others] = text.split('\n');
  return others.length === 0 ? [`${style.dim(name)} ${first}`] : [style.dim(name), ...[first, ...others].map((line) => `  ${line}`)];
}

export function renderVerification({ ref, events, defects, violations, ok }: VerifyReport, style: Style): string {
  const head = `${ref.run} of ${ref.workflow}: ${events} events, ${ok ? style.green('sound') : style.red('not sound')}`;
  const lost = defects.map(({ kind, line, message }) => `  ${kind}${line === undefined ? '' : ` in line ${line}`}: ${oneLine(message)}`);
  const impossible = violations.map(({ seq, message }) => `  event ${seq}: ${oneLine(message)}`);
  return `${wrapAll([head, ...lost, ...impossible], style).join('\n')}\n`;
}
