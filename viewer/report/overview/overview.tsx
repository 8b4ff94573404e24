/** The first screen: what went wrong and how to repair it, the run over time, what was spent on what, and what took long. */
import type { Model } from '../model/page-model.js';
import { DrawingCard } from '../graph/drawing.js';
import { hashOfNode } from '../model/route.js';
import { Failures } from './failures.js';
import { ForkSources } from './fork-sources.js';
import { Slowest } from './slowest.js';
import { Spending } from './spending.js';
import { Timeline } from './timeline.js';
import { Waiting } from './waiting.js';
import { Workers } from './workers.js';

export function Overview({ model, isFollowed }: { readonly model: Model; readonly isFollowed: boolean }) {
  return (
    <>
      {!isFollowed && <Waiting model={model} />}
      <Failures model={model} isFollowed={isFollowed} />
      <ForkSources model={model} />
      {model.data.pipeline && (
        <DrawingCard pipeline={model.data.pipeline} chosen="" choose={(node) => void (location.hash = hashOfNode(node))} />
      )}
      {model.calls.length > 0 && <Timeline model={model} />}
      {model.calls.length > 0 && <Spending model={model} />}
      <Workers model={model} />
      {model.calls.length > 0 && <Slowest model={model} />}
    </>
  );
}
