/** The page of a pipeline says of each visit which edges left it, and why the others were not taken. */
import { describe, expect, it } from 'vitest';
import type { Fact, JournalEvent } from '../../journal/event.js';
import { opPath } from '../../journal/ids.js';
import { stepsOf } from '../../src/api/reports/page-pipeline.js';
import { compilePipeline } from '../../src/pipeline/model/compiled-pipeline.js';
import { preparePipeline } from '../../src/pipeline/model/prepare.js';
import { pipeline } from '../support/pipeline-run.js';
import { entries, runRef } from '../support/written-runs.js';

const TEXT = pipeline(
  'a [prompt="one"]; start -> a; a -> exit [condition="context.tide=high"]; a -> start [condition="context.tide!=high"]',
);
const outcome = { status: 'success', preferred_label: '', suggested_next_ids: [], failure_reason: '', notes: '' } as const;

const recorded = (events: readonly JournalEvent[]): Parameters<typeof stepsOf>[0] => events.map((event) => ({ run: null, event }));

function visited(): readonly JournalEvent[] {
  const op = opPath('main/a#0');
  const facts: readonly Fact[] = [
    { type: 'context.updated', op: opPath('main'), updates: { tide: 'low' }, by: 'run' },
    { type: 'node.started', op, node: 'a', visit: 0, handler: 'codergen' },
    {
      type: 'node.finished',
      op,
      node: 'a',
      visit: 0,
      status: 'success',
      attempts: 1,
      elapsedMs: 7,
      outcome: { ...outcome, context_updates: { tide: 'high' } },
    },
    { type: 'edge.selected', op: opPath('main'), from: 'a', to: 'exit', via: 'condition', label: '', condition: 'context.tide=high' },
  ];
  return entries(runRef(1), facts).map(({ event }) => event);
}

describe('the visits of a pipeline on its page', () => {
  it('have the conditions that held and did not, with the context behind the visit', () => {
    const plan = compilePipeline(preparePipeline(TEXT), new Set());
    expect(stepsOf(recorded(visited()), plan)).toMatchObject([
      {
        node: 'a',
        status: 'success',
        changes: [['tide', 'high']],
        edges: [
          { to: 'exit', condition: 'context.tide=high', held: true, via: 'condition' },
          { to: 'start', condition: 'context.tide!=high', held: false, via: null },
        ],
      },
    ]);
  });

  it('have the edge that was taken where the text of the pipeline is gone, and no edge before a visit has ended', () => {
    expect(stepsOf(recorded(visited()), undefined)).toMatchObject([{ edges: [{ to: 'exit', held: null, via: 'condition' }] }]);
    expect(stepsOf(recorded(visited().slice(0, 2)), undefined)).toMatchObject([{ status: 'unfinished', durationMs: null, edges: [] }]);
  });
});
