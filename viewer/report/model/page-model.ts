/** Holds the data of a page, and finds its way around the operations. Details of an operation are read when they are shown. */
import type { RunDiff } from '../../../replay/reports/diff/diff-run.js';
import type { PageData } from '../../../replay/reports/page/page-data.js';
import type { ReportData, SpanState } from '../../../replay/reports/timeline/report.js';
import type { CallDetails, ShownPayload, SpanDetails } from '../../../replay/reports/timeline/report-details.js';

export type { CallDetails, PageData, ReportData, RunDiff, ShownPayload, SpanDetails, SpanState };

/** Stands for the run itself among the parents of operations. */
export const RUN = -1;

/** An operation is known by its place in the columns of the report. */
export interface Model {
  readonly data: PageData;
  readonly report: ReportData;
  readonly diff: RunDiff | undefined;
  readonly count: number;
  /** The operations that made a call themselves, in the order in which they began. */
  readonly calls: readonly number[];
  stateOf(span: number): SpanState;
  nameOf(span: number): string;
  /** The function that a call was made of; a workflow script names its calls otherwise. */
  fnOf(span: number): string;
  /** `@review` for a call that has the name of its function, `item 12` for an iteration, otherwise the name. */
  titleOf(span: number): string;
  /** Returns the beginning of what it was given, or else the item of the loop that it is of, or the line of the source. */
  aboutOf(span: number): string;
  /** Calls inside an operation, without its own, and how many of them have no result. */
  insideOf(span: number): { readonly calls: number; readonly failed: number };
  durationOf(span: number): number;
  childrenOf(span: number): readonly number[];
  /** Outermost first. */
  ancestorsOf(span: number): readonly number[];
  detailsOf(span: number): SpanDetails | undefined;
  spanAt(op: string): number | undefined;
  /** Everything that is known of an operation as text, in lower case: its arguments and results too. */
  textOf(span: number): string;
  /** Begins to load the texts that `textOf` needs, where they are not there yet. */
  loadTexts(): void;
}

export interface DetailsSource {
  /** Undefined where an operation has none, or they are not there yet. */
  detailsOf(span: number): SpanDetails | undefined;
  /** The same, without beginning to load them. */
  knownDetailsOf(span: number): SpanDetails | undefined;
  loadTexts(): void;
}

/** The details of all operations, a line of JSON each: few of them are ever looked at. */
export function detailsOfLines(lines: readonly string[]): DetailsSource {
  const detailsOf = (span: number): SpanDetails | undefined => (JSON.parse(lines[span] ?? 'null') as SpanDetails | null) ?? undefined;
  return { detailsOf, knownDetailsOf: detailsOf, loadTexts: () => undefined };
}

export function createModel(data: PageData, diff: RunDiff | undefined, { detailsOf, knownDetailsOf, loadTexts }: DetailsSource): Model {
  const { report } = data;
  const { spans, states } = report;
  const count = spans.op.length;
  const children = new Map<number, number[]>();
  for (const [span, parent] of spans.parent.entries()) {
    const siblings = children.get(parent);
    if (siblings) siblings.push(span);
    else children.set(parent, [span]);
  }
  let inside: Inside | undefined;
  let places: Map<string, number> | undefined;
  const texts: string[] = [];
  const functions = new Set(report.functions.map(({ name }) => name));
  const only = functions.size === 1 ? [...functions][0] : undefined;
  const nameOf = (span: number): string => spans.name[span] ?? '';
  return {
    data,
    report,
    diff,
    count,
    calls: [...spans.calls.keys()].filter((span) => (spans.calls[span] as number) > 0),
    stateOf: (span) => states[spans.state[span] ?? 0] ?? 'done',
    nameOf,
    fnOf(span) {
      const name = nameOf(span);
      return functions.has(name) ? name : (only ?? knownDetailsOf(span)?.calls[0]?.fn ?? name);
    },
    titleOf: (span) =>
      itemOf(spans.kind[span], spans.op[span]) ??
      `${functions.has(nameOf(span)) && (spans.calls[span] as number) > 0 ? '@' : ''}${nameOf(span)}`,
    aboutOf: (span) => spans.about[span] || itemAround(report, span) || lineOf(data, span),
    insideOf(span) {
      inside ??= countInside(report);
      return { calls: inside.calls[span] ?? 0, failed: inside.failed[span] ?? 0 };
    },
    durationOf: (span) => (spans.end[span] ?? 0) - (spans.start[span] ?? 0),
    childrenOf: (span) => children.get(span) ?? [],
    ancestorsOf(span) {
      const around: number[] = [];
      for (let parent = spans.parent[span] ?? RUN; parent !== RUN; parent = spans.parent[parent] ?? RUN) around.unshift(parent);
      return around;
    },
    detailsOf,
    loadTexts,
    spanAt(op) {
      places ??= new Map(spans.op.map((each, span) => [each, span]));
      return places.get(op);
    },
    textOf: (span) =>
      (texts[span] ??= [spans.op[span], spans.name[span], spans.about[span], spans.message[span], ...textsOf(knownDetailsOf(span))]
        .join('\n')
        .toLowerCase()),
  };
}

/** A reused call has no text of its own; what its loop handed to it tells it from others. */
function itemAround({ spans }: ReportData, span: number): string {
  const parent = spans.parent[span] ?? RUN;
  const isInLoop = (spans.calls[span] ?? 0) > 0 && spans.kind[parent] === 'for:iteration';
  return isInLoop ? (spans.about[parent] ?? '') : '';
}

/** Counts items from 1 on, as messages do. */
function itemOf(kind = '', op = ''): string | undefined {
  const [, place] = /:(?:iteration|batch)$/.test(kind) ? (/\[(\d+)\]$/.exec(op) ?? []) : [];
  return place === undefined ? undefined : `${kind.endsWith('batch') ? 'batch' : 'item'} ${Number(place) + 1}`;
}

interface Inside {
  readonly calls: Uint32Array;
  readonly failed: Uint32Array;
}

const WITHOUT_RESULT: ReadonlySet<SpanState | undefined> = new Set(['failed', 'denied', 'not-executed']);

/** An operation has a greater number than the one around it, so one look from behind adds up all of them. */
function countInside({ spans, states }: ReportData): Inside {
  const count = spans.op.length;
  const inside = { calls: new Uint32Array(count), failed: new Uint32Array(count) };
  for (let span = count - 1; span >= 0; span--) {
    const parent = spans.parent[span] ?? RUN;
    if (parent === RUN) continue;
    const calls = spans.calls[span] ?? 0;
    const isLost = calls > 0 && WITHOUT_RESULT.has(states[spans.state[span] ?? 0]);
    inside.calls[parent] = (inside.calls[parent] ?? 0) + (inside.calls[span] ?? 0) + calls;
    inside.failed[parent] = (inside.failed[parent] ?? 0) + (inside.failed[span] ?? 0) + (isLost ? 1 : 0);
  }
  return inside;
}

/** Empty where the journal has no text of the source any more. */
function lineOf({ report, places, sources }: PageData, span: number): string {
  const place = places[report.spans.site[span] ?? -1];
  if (!place) return '';
  const [source, line] = place;
  return sources[source]?.text?.text.split('\n')[line - 1]?.trim() ?? '';
}

function textsOf(details: SpanDetails | undefined): readonly string[] {
  return (details?.calls ?? []).flatMap(({ args, result }) => [...args, result].flatMap((each) => ('text' in each ? [each.text] : [])));
}
