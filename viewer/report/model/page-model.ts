/** Holds the data of a page, and finds its way around the operations. Details of an operation are parsed when they are shown. */
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
  aboutOf(span: number): string;
  durationOf(span: number): number;
  childrenOf(span: number): readonly number[];
  /** Outermost first. */
  ancestorsOf(span: number): readonly number[];
  detailsOf(span: number): SpanDetails | undefined;
  spanAt(op: string): number | undefined;
  /** Everything that is known of an operation as text, in lower case: its arguments and results too. */
  textOf(span: number): string;
}

export function createModel(data: PageData, diff: RunDiff | undefined, details: readonly string[]): Model {
  const { report } = data;
  const { spans, states } = report;
  const count = spans.op.length;
  const children = new Map<number, number[]>();
  for (const [span, parent] of spans.parent.entries()) {
    const siblings = children.get(parent);
    if (siblings) siblings.push(span);
    else children.set(parent, [span]);
  }
  let places: Map<string, number> | undefined;
  const texts: string[] = [];
  const detailsOf = (span: number): SpanDetails | undefined => (JSON.parse(details[span] ?? 'null') as SpanDetails | null) ?? undefined;
  return {
    data,
    report,
    diff,
    count,
    calls: [...spans.calls.keys()].filter((span) => (spans.calls[span] as number) > 0),
    stateOf: (span) => states[spans.state[span] ?? 0] ?? 'done',
    nameOf: (span) => spans.name[span] ?? '',
    aboutOf: (span) => spans.about[span] ?? '',
    durationOf: (span) => (spans.end[span] ?? 0) - (spans.start[span] ?? 0),
    childrenOf: (span) => children.get(span) ?? [],
    ancestorsOf(span) {
      const around: number[] = [];
      for (let parent = spans.parent[span] ?? RUN; parent !== RUN; parent = spans.parent[parent] ?? RUN) around.unshift(parent);
      return around;
    },
    detailsOf,
    spanAt(op) {
      places ??= new Map(spans.op.map((each, span) => [each, span]));
      return places.get(op);
    },
    textOf: (span) =>
      (texts[span] ??= [spans.op[span], spans.name[span], spans.about[span], spans.message[span], ...textsOf(detailsOf(span))]
        .join('\n')
        .toLowerCase()),
  };
}

function textsOf(details: SpanDetails | undefined): readonly string[] {
  return (details?.calls ?? []).flatMap(({ args, result }) => [...args, result].flatMap((each) => ('text' in each ? [each.text] : [])));
}
