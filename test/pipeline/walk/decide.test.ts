/** The next step of a walk follows from its record. */
import { describe, expect, it } from 'vitest';
import { pipelineState } from '../../../replay/pipeline/pipeline-state.js';
import { decideNext, type Decision } from '../../../src/pipeline/walk/decide.js';
import { outcomeOf, type StageOutcome } from '../../../src/pipeline/model/outcome.js';
import { compilePipeline } from '../../../src/pipeline/model/compiled-pipeline.js';
import { preparePipeline } from '../../../src/pipeline/model/prepare.js';
import type { WalkView } from '../../../src/pipeline/stage/state-view.js';
import { pipeline } from '../../support/pipeline-run.js';

function decided(body: string, walk: Partial<WalkView>): Decision {
  return decideNext(compilePipeline(preparePipeline(pipeline(body)), new Set()), { ...pipelineState.initial().main, ...walk }, 'start');
}
const leaving = (body: string, current: string, outcome: StageOutcome): Decision => decided(body, { current, outcome });
const PLAIN = 'a [prompt=x]; b [prompt=x]; start -> a -> b -> exit';

describe('on a walk that continues', () => {
  const running = { op: 'main/b#0' as never, node: 'b', visit: 0, retries: 0, answered: 0 };
  const next = { from: 'a', to: 'b', via: 'weight' } as const;

  it.each<[string, Partial<WalkView>, string]>([
    ['begins at the entry', {}, 'start'],
    ['begins where it is told to, before all else', { enterAt: 'a', running, next, current: 'a' }, 'a'],
    ['goes back into the visit that had begun', { running, current: 'a', outcome: outcomeOf('success') }, 'b'],
    ['arrives where the recorded edge leads', { next, current: 'a', outcome: outcomeOf('success') }, 'b'],
  ])('it %s', (_what, walk, node) => expect(decided(PLAIN, walk)).toEqual({ kind: 'arrive', node }));

  it('chooses anew where the recorded edge was edited away', () => {
    const body = 'a [prompt=x]; b [prompt=x]; c [prompt=x]; start -> a -> c -> exit; start -> b -> exit';
    const walk = { next, current: 'a', outcome: outcomeOf('success') };
    expect(decided(body, walk)).toMatchObject({ kind: 'go', from: 'a', to: 'c' });
    expect(decided(body, { ...walk, next: { ...next, via: 'retry_target' } })).toEqual({ kind: 'arrive', node: 'b' }); // a jump has no edge
  });

  it('begins a new run only where the edge that was taken says so, of several to one node', () => {
    const body = `a [prompt=x]; b [prompt=x]; start -> a; b -> exit
      a -> b [label=on]; a -> b [label=anew, loop_restart=true]; a -> b [condition="outcome=fail"]`;
    const taken = (edge: Partial<NonNullable<WalkView['next']>>) => decided(body, { next: { ...next, ...edge } }).kind;
    expect(taken({ label: 'on' })).toBe('arrive');
    expect(taken({ label: 'anew' })).toBe('restart');
    expect(taken({ condition: 'outcome=fail' })).toBe('arrive');
  });
});

describe('a failed stage', () => {
  const failed = outcomeOf('fail', { failure_reason: 'no pump' });
  const end = { kind: 'fail', node: 'a', reason: 'no pump' };

  it('ends the walk where no edge and no target takes it', () => {
    expect(leaving(PLAIN, 'a', failed)).toEqual(end);
  });

  it('jumps to its retry target, else to the fallback, else nowhere', () => {
    const body = (targets: string) => `b [prompt=x]; a [prompt=x, ${targets}]; start -> b -> a -> exit`;
    expect(leaving(body('retry_target=b, fallback_retry_target=start'), 'a', failed)).toMatchObject({ to: 'b', via: 'retry_target' });
    expect(leaving(body('retry_target=gone, fallback_retry_target=b'), 'a', failed)).toMatchObject({
      to: 'b',
      via: 'fallback_retry_target',
    });
    expect(leaving(body('retry_target=gone'), 'a', failed)).toEqual(end);
  });

  it('does not jump for a failure that a later node only carries on', () => {
    const body = 'a [shape=diamond, retry_target=start]; start -> a -> exit [condition="outcome=success"]';
    expect(leaving(body, 'a', { ...outcomeOf('success'), carried: failed })).toEqual(end);
  });

  it('of a parallel node jumps, and goes to the join otherwise', () => {
    const body = 'fan [shape=component, retry_target=start]; a; m [shape=tripleoctagon]; start -> fan -> a -> m -> exit';
    expect(leaving(body, 'fan', failed)).toMatchObject({ to: 'start', via: 'retry_target' });
    expect(leaving(body, 'fan', outcomeOf('success'))).toMatchObject({ to: 'm', via: 'join' });
  });
});

it('ends without failing where nothing leads on', () => {
  expect(leaving('a [prompt=x]; start -> a; start -> exit', 'a', outcomeOf('success'))).toEqual({ kind: 'end', node: 'a' });
});
