/** Makes the data of a report: numbers first, spans as columns, because there are tens of thousands of them. */
import type { RunRef } from '../../../journal/ids.js';
import type { CallCounts } from '../../fold/calls/call-counts.js';
import { modelsOf, type ModelTally } from './models.js';
import { tracksOf } from './tracks.js';
import { callsOf, endOf, type Span, type Timeline } from './timeline.js';
import { costOfCall } from './call-cost.js';

export type { ModelTally } from './models.js';

/** The calls of a run, of a function, or of a phase. */
export interface Tally extends CallCounts {
  readonly name: string;
  /** Those of `reused` that workers executed for the run. */
  readonly atWorkers: number;
}

/** `unfinished`: it never ended. `done`: it made no call itself. `at-worker`: a worker executed its call for the run. */
export type SpanState = 'done' | 'executed' | 'at-worker' | 'reused' | 'failed' | 'denied' | 'not-executed' | 'unfinished';
const SPAN_STATES: readonly SpanState[] = ['done', 'executed', 'reused', 'failed', 'denied', 'not-executed', 'unfinished', 'at-worker'];

/** A column each; the n-th of every column belongs to the n-th span, in the order in which they began. */
export interface SpanColumns {
  readonly op: readonly string[];
  readonly kind: readonly string[];
  readonly name: readonly string[];
  /** The beginning of an argument, or an item. */
  readonly about: readonly string[];
  readonly message: readonly string[];
  /** The place of the span around it; -1 for none. */
  readonly parent: readonly number[];
  /** Milliseconds since the start of the run. */
  readonly start: readonly number[];
  readonly end: readonly number[];
  /** The row of each span: spans of one row don't overlap, and a span inside another is drawn below it. */
  readonly row: readonly number[];
  /** By its place in `states` of the report. */
  readonly state: readonly number[];
  /** Cost in US dollars, null where no call reported one. */
  readonly costUsd: readonly (number | null)[];
  /** The number of calls that the operation executed or reused itself, and of their attempts. */
  readonly calls: readonly number[];
  readonly attempts: readonly number[];
  /** By its place in `sites` of the report; -1 for none. */
  readonly site: readonly number[];
  /** The phase of a workflow script, by its place in `groups` of the report; -1 for none. */
  readonly group: readonly number[];
}

export interface ReportData {
  readonly workflow: string;
  readonly run: string;
  readonly name: string;
  readonly status: string;
  readonly error: string | null;
  /** ISO 8601, UTC. */
  readonly started: string;
  readonly durationMs: number;
  /** A call that has not ended is in none of its numbers. */
  readonly total: Tally;
  /** Calls in flight, or those that the end of the run cut off. */
  readonly unfinished: number;
  readonly functions: readonly Tally[];
  readonly phases: readonly Tally[];
  readonly models: readonly ModelTally[];
  readonly marks: readonly { readonly name: string; readonly at: number }[];
  /** Names for the numbers in `spans.state`. */
  readonly states: readonly SpanState[];
  /** Places in the source, for the numbers in `spans.site`: `llm/run/job.mld:12:9`. */
  readonly sites: readonly string[];
  readonly groups: readonly string[];
  readonly spans: SpanColumns;
}

/** `status`: of a run that has no last event, what became of it. */
export function reportData({ workflow, run }: RunRef, state: Timeline, status: string): ReportData {
  const startedMs = state.startedMs ?? 0;
  const isDead = (state.status ?? status) !== 'running';
  const cutOff = isDead ? attemptsCutOff(state) : new Map<CallCounts, number>();
  const tally = (name: string, counts: CallCounts): Tally => ({
    name,
    ...counts,
    atWorkers: state.atWorkers.get(counts) ?? 0,
    unpriced: counts.unpriced + (cutOff.get(counts) ?? 0),
  });
  const functions = [...state.ledger.functions].map(([name, counts]) => tally(name, counts));
  return {
    workflow,
    run,
    name: state.name ?? workflow,
    status: state.status ?? status,
    error: state.error?.message ?? null,
    started: new Date(startedMs).toISOString(),
    durationMs: (state.lastMs ?? startedMs) - startedMs,
    total: tally('all', state.ledger.total),
    unfinished: [...callsOf(state)].filter(({ call }) => call.outcome === 'unfinished').length,
    functions: functions.sort((left, right) => (right.costUsd ?? 0) - (left.costUsd ?? 0) || right.callsMs - left.callsMs),
    phases: [...state.countsOfPhases].map(([name, counts]) => tally(name, counts)),
    models: modelsOf(state),
    marks: state.phases.map(({ name, atMs }) => ({ name, at: atMs - startedMs })),
    states: SPAN_STATES,
    sites: namesOf(state, 'site'),
    groups: namesOf(state, 'group'),
    spans: columnsOf(state, startedMs),
  };
}

function columnsOf(state: Timeline, startedMs: number): SpanColumns {
  const { spans } = state;
  const places = new Map(spans.map((span, place) => [span, place]));
  return {
    op: spans.map(({ op }) => op),
    kind: spans.map(({ kind }) => kind),
    name: spans.map(({ name, kind }) => name ?? kind),
    about: spans.map(({ item, calls }) => calls[0]?.preview ?? item ?? ''),
    message: spans.map(({ message, calls }) => message ?? calls.findLast((call) => call.message !== undefined)?.message ?? ''),
    parent: spans.map(({ parent }) => (parent === undefined ? -1 : (places.get(parent) ?? -1))),
    start: spans.map((span) => span.startedMs - startedMs),
    end: spans.map((span) => endOf(span, state) - startedMs),
    row: rowsOf(state),
    state: spans.map((span) => SPAN_STATES.indexOf(stateOf(span))),
    costUsd: spans.map(costOf),
    calls: spans.map(({ calls }) => calls.length),
    attempts: spans.map(({ calls }) => calls.reduce((sum, { attempts }) => sum + attempts.length, 0)),
    site: numbersOf(state, 'site'),
    group: numbersOf(state, 'group'),
  };
}

/** Each name once, in the order of the first span that has it. */
function namesOf({ spans }: Timeline, member: 'site' | 'group'): readonly string[] {
  return [...new Set(spans.flatMap((span) => span[member] ?? []))];
}

function numbersOf(state: Timeline, member: 'site' | 'group'): readonly number[] {
  const numbers = new Map(namesOf(state, member).map((name, number) => [name, number]));
  return state.spans.map((span) => numbers.get(span[member] ?? '') ?? -1);
}

/** Counts the attempts in flight when a run died, whose cost is not known, by the counts that they belong to. */
function attemptsCutOff({ ledger: { attempts } }: Timeline): ReadonlyMap<CallCounts, number> {
  const cutOff = new Map<CallCounts, number>();
  for (const { hasFailed, groups } of attempts.values())
    if (!hasFailed) for (const counts of groups) cutOff.set(counts, (cutOff.get(counts) ?? 0) + 1);
  return cutOff;
}

/** A track takes as many rows as its spans lie in each other. */
function rowsOf(state: Timeline): readonly number[] {
  const placed = tracksOf(state);
  const heights: number[] = [];
  for (const { track, depth } of placed) heights[track] = Math.max(heights[track] ?? 0, depth + 1);
  let above = 0;
  const tops = heights.map((height) => (above += height) - height);
  return placed.map(({ track, depth }) => (tops[track] as number) + depth);
}

/** A call that failed shows in its span also where the script went on with what the call gave. */
function stateOf({ outcome, calls }: Span): SpanState {
  if (outcome === undefined) return 'unfinished';
  if (outcome === 'reused' && calls.at(-1)?.worker) return 'at-worker';
  if (outcome !== 'ok') return outcome;
  const last = calls.at(-1)?.outcome;
  if (last === undefined) return 'done';
  return last === 'failed' || last === 'denied' || last === 'not-executed' ? last : 'executed';
}

function costOf({ calls }: Span): number | null {
  const known = calls.flatMap((call) => costOfCall(call).costUsd ?? []);
  return known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0);
}
