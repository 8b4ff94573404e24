/** Shows the tree of operations with its filters, and beside it the chosen operation. On a narrow screen there is room for one of them. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Model } from '../model/page-model.js';
import { hashOf, type Route } from '../model/route.js';
import { treeRows, type TreeRow } from '../model/tree-rows.js';
import { number } from '../model/verdict-words.js';
import { CallPage } from './call-page.js';
import { FilterBar } from './filter-bar.js';
import { Tree } from './tree.js';

export function Operations({ model, route }: { readonly model: Model; readonly route: Route }) {
  const { filter } = route;
  const chosen = route.op === undefined ? undefined : model.spanAt(route.op);
  const [open, setOpen] = useState<ReadonlySet<number>>(() => firstOpen(model));
  const [closed, setClosed] = useState<ReadonlySet<number>>(new Set());
  // The operations around the chosen one are open, or it would not be seen.
  const opened = useMemo(() => (chosen === undefined ? open : new Set([...open, ...model.ancestorsOf(chosen)])), [model, open, chosen]);
  const rows = useMemo(
    () => treeRows(model, filter, { open: opened, closed }),
    [model, filter.fn, filter.state, filter.text, opened, closed],
  );
  useEffect(() => {
    if (filter.text.trim() !== '') model.loadTexts();
  }, [model, filter.text]);
  const matches = useMemo(() => rows.filter((row) => row.matches).map(({ span }) => span), [rows]);

  const toggle = ({ span, isOpen }: TreeRow): void => {
    setOpen(changed(opened, span, isOpen !== true));
    setClosed(changed(closed, span, isOpen === true));
  };
  const choose = (span: number): void => {
    location.hash = hashOf({ view: 'operations', op: model.report.spans.op[span], filter });
  };
  const steps =
    chosen !== undefined && (model.report.spans.calls[chosen] ?? 0) > 0 ? callsAround(model, matches, chosen) : neighbours(matches, chosen);
  return (
    <div class={`operations${chosen === undefined ? '' : ' chosen'}`}>
      <section class="card list" aria-labelledby="title-operations">
        <h2 id="title-operations">
          Operations <small>{number(matches.length)} shown</small>
        </h2>
        <FilterBar model={model} filter={filter} />
        <Tree model={model} rows={rows} chosen={chosen} onToggle={toggle} onChoose={choose} />
      </section>
      {chosen === undefined ? (
        <section class="card empty" aria-label="Chosen operation">
          <p>
            {route.op === undefined ? 'Choose an operation to see its texts, attempts and cost.' : `This run has no operation ${route.op}.`}
          </p>
        </section>
      ) : (
        <CallPage key={chosen} model={model} span={chosen} filter={filter} before={steps.before} after={steps.after} onGo={choose} />
      )}
    </div>
  );
}

/** A run with one operation at its top opens with what is inside. */
function firstOpen(model: Model): ReadonlySet<number> {
  const top = model.childrenOf(-1);
  return new Set(top.length === 1 ? top : []);
}

function changed(set: ReadonlySet<number>, span: number, isIn: boolean): ReadonlySet<number> {
  const copy = new Set(set);
  if (isIn) copy.add(span);
  else copy.delete(span);
  return copy;
}

interface Steps {
  readonly before: number | undefined;
  readonly after: number | undefined;
}

function neighbours(list: readonly number[], span: number | undefined): Steps {
  const place = span === undefined ? -1 : list.indexOf(span);
  return place < 0 ? { before: undefined, after: undefined } : { before: list[place - 1], after: list[place + 1] };
}

/** From a call to the next call: of those that match the filter, whether their rows are open or not. */
function callsAround(model: Model, matches: readonly number[], span: number): Steps {
  const isCall = (each: number): boolean => (model.report.spans.calls[each] ?? 0) > 0;
  const shown = matches.filter(isCall);
  const isFiltered = shown.length > 0 && !model.childrenOf(-1).every((each) => matches.includes(each));
  return neighbours(isFiltered && shown.includes(span) ? shown : model.calls, span);
}
