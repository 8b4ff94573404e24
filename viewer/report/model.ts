/** Reads the data of the page. Details of a span are parsed when they are shown. */
import type { RunDiff } from '../../replay/reports/diff/diff-run.js';
import type { SpanDetails } from '../../replay/reports/timeline/report-details.js';
import type { ReportData, SpanState } from '../../replay/reports/timeline/report.js';

export interface Model {
  readonly data: ReportData;
  readonly diff: RunDiff | undefined;
  readonly count: number;
  stateOf(span: number): SpanState;
  /** Returns the spans directly inside a span; -1 means the run. */
  childrenOf(span: number): readonly number[];
  detailsOf(span: number): SpanDetails | undefined;
  /** Finds spans that hold the text, ignoring case: returns at most `limit` of them, and their total. */
  search(text: string, limit: number): { readonly found: readonly number[]; readonly total: number };
  title(span: number): string;
}

export function readModel(): Model {
  const data = JSON.parse(textOf('data')) as ReportData;
  const details = textOf('details').split('\n');
  const { spans } = data;
  const count = spans.op.length;
  const children = new Map<number, number[]>();
  spans.parent.forEach((parent, span) => {
    const siblings = children.get(parent);
    if (siblings) siblings.push(span);
    else children.set(parent, [span]);
  });
  let texts: readonly string[] | undefined;
  return {
    data,
    diff: (JSON.parse(textOf('diff')) as RunDiff | null) ?? undefined,
    count,
    stateOf: (span) => data.states[spans.state[span] ?? 0] ?? 'done',
    childrenOf: (span) => children.get(span) ?? [],
    detailsOf: (span) => (JSON.parse(details[span] ?? 'null') as SpanDetails | null) ?? undefined,
    search(text, limit) {
      texts ??= spans.op.map((op, span) => `${op}\n${spans.name[span]}\n${spans.about[span]}\n${spans.message[span]}`.toLowerCase());
      const wanted = text.toLowerCase();
      const found: number[] = [];
      let total = 0;
      texts.forEach((held, span) => {
        if (!held.includes(wanted)) return;
        total++;
        if (found.length < limit) found.push(span);
      });
      return { found, total };
    },
    title: (span) => {
      const about = spans.about[span] ?? '';
      return about === '' ? (spans.name[span] ?? '') : `${spans.name[span]} ${about}`;
    },
  };
}

function textOf(id: string): string {
  return document.getElementById(id)?.textContent ?? 'null';
}
