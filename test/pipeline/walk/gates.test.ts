/** Goal gates, from how the nodes of a run ended last. graph-pipelines.md 6.6. */
import { expect, it } from 'vitest';
import { pipelineState } from '../../../replay/pipeline/pipeline-state.js';
import { checkGoalGates } from '../../../src/pipeline/walk/goal-gates.js';
import type { StageStatus } from '../../../src/pipeline/model/outcome.js';
import { compilePipeline } from '../../../src/pipeline/model/compiled-pipeline.js';
import { preparePipeline } from '../../../src/pipeline/model/prepare.js';
import { pipeline } from '../../support/pipeline-run.js';

const TWO = 'a [prompt=x, goal_gate=true]; b [prompt=x, goal_gate=true]; start -> a -> b -> exit';

function checked(results: readonly (readonly [string, StageStatus | undefined])[], body = TWO, attributes = '') {
  const plan = compilePipeline(preparePipeline(pipeline(body, attributes)), new Set());
  return checkGoalGates(plan, { ...pipelineState.initial(), results: new Map(results) });
}

it.each<[string, readonly (readonly [string, StageStatus | undefined])[], string | undefined]>([
  ['is met by a success', [['a', 'success']], undefined],
  ['is met by a partial success', [['a', 'partial_success']], undefined],
  ['is not met by a failure', [['a', 'fail']], 'a'],
  ['does not count while it was not visited', [], undefined],
  ['does not count when it was skipped', [['a', undefined]], undefined],
  ['decides when it was visited first', [['b', 'fail'], ['a', 'fail']], 'b'], // prettier-ignore
])('a gate %s', (_what, results, unmet) => expect(checked(results).unmet?.node).toBe(unmet));

it('reports the status of each gate', () => {
  expect(checked([['b', 'fail'], ['start', 'success']]).gates).toEqual({ a: 'pending', b: 'unsatisfied' }); // prettier-ignore
});

it.each<[string, string, string | undefined]>([
  ['retry_target=start, fallback_retry_target=b', 'retry_target=b', 'start'],
  ['retry_target=gone, fallback_retry_target=b', 'retry_target=start', 'b'],
  ['retry_target=gone', 'retry_target=start\nfallback_retry_target=b', 'start'],
  ['retry_target=gone', 'fallback_retry_target=b', 'b'],
  ['retry_target=gone', '', undefined],
])('with %j and %j of the graph it sends the walk to %s', (own, ofGraph, target) => {
  const body = `a [prompt=x, goal_gate=true, ${own}]; b [prompt=x]; start -> a -> b -> exit`;
  expect(checked([['a', 'fail']], body, ofGraph).unmet?.target).toBe(target);
});
