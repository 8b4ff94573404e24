/** Lists the rows of the tree of operations: those whose parents are open, or with a filter those that match and what is around them. */
import { RUN, type Model } from './page-model.js';
import { isFiltering, type Filter } from './route.js';

export interface TreeRow {
  readonly span: number;
  /** From 1 on. */
  readonly level: number;
  readonly place: number;
  readonly siblings: number;
  /** Undefined for a row without rows inside. */
  readonly isOpen: boolean | undefined;
  /** False for a row that is only around others that match. */
  readonly matches: boolean;
}

export function matching(model: Model, filter: Filter): readonly number[] {
  const { fn, state } = filter;
  const text = filter.text.trim().toLowerCase();
  const found: number[] = [];
  for (let span = 0; span < model.count; span++) {
    if (fn !== '' && ((model.report.spans.calls[span] as number) === 0 ? model.nameOf(span) : model.fnOf(span)) !== fn) continue;
    if (state !== '' && model.stateOf(span) !== state) continue;
    if (text !== '' && !model.textOf(span).includes(text)) continue;
    found.push(span);
  }
  return found;
}

/** `closed` are the operations whose rows inside are hidden while there is a filter, `open` those whose rows are shown without one. */
export function treeRows(
  model: Model,
  filter: Filter,
  { open, closed }: { readonly open: ReadonlySet<number>; readonly closed: ReadonlySet<number> },
): readonly TreeRow[] {
  const found = isFiltering(filter) ? new Set(matching(model, filter)) : undefined;
  const around = new Set<number>();
  for (const span of found ?? []) {
    for (
      let parent = model.report.spans.parent[span] ?? RUN;
      parent !== RUN && !around.has(parent);
      parent = model.report.spans.parent[parent] ?? RUN
    )
      around.add(parent);
  }
  const isShown = (span: number): boolean => found === undefined || found.has(span) || around.has(span);
  const rows: TreeRow[] = [];
  const add = (parent: number, level: number): void => {
    const children = model.childrenOf(parent).filter(isShown);
    for (const [index, span] of children.entries()) {
      const hasRows = model.childrenOf(span).some(isShown);
      const isOpen = hasRows ? (found === undefined ? open.has(span) : !closed.has(span)) : undefined;
      rows.push({ span, level, place: index + 1, siblings: children.length, isOpen, matches: found?.has(span) ?? true });
      if (isOpen) add(span, level + 1);
    }
  };
  add(RUN, 1);
  return rows;
}
