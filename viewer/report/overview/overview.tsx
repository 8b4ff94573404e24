/** The first screen: what went wrong and how to repair it, the run over time, what was spent on what, and what took long. */
import type { Model } from '../model/page-model.js';
import { Graph } from '../graph/graph.js';
import { Failures } from './failures.js';
import { Slowest } from './slowest.js';
import { Spending } from './spending.js';
import { Timeline } from './timeline.js';

export function Overview({ model }: { readonly model: Model }) {
  return (
    <>
      <Failures model={model} />
      {model.calls.length === 0 && <Graph model={model} />}
      {model.calls.length > 0 && <Timeline model={model} />}
      {model.calls.length > 0 && <Spending model={model} />}
      {model.calls.length > 0 && <Slowest model={model} />}
    </>
  );
}
