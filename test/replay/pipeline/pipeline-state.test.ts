/** Single events of a pipeline change its state, and a resume keeps a part of the run before. */
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import type { StageOutcome, StageStatus } from '../../../journal/facts/pipeline-event.js';
import { opPath, seqOf } from '../../../journal/ids.js';
import { pipelineState, type PipelineState } from '../../../replay/pipeline/pipeline-state.js';
import { fold } from '../../../replay/fold/projection.js';
import { entries, key, runRef, started } from '../../support/written-runs.js';

const outcome = (status: StageStatus, updates: StageOutcome['context_updates'] = {}): StageOutcome => ({
  status,
  context_updates: updates,
  notes: '',
  preferred_label: '',
  suggested_next_ids: [],
  failure_reason: '',
});
const begins = (path: string, visit = 0): Fact => ({
  type: 'node.started',
  op: opPath(path),
  node: nodeIn(path),
  visit,
  handler: 'codergen',
});
const ends = (path: string, status: StageStatus = 'success', updates: StageOutcome['context_updates'] = {}): Fact => ({
  type: 'node.finished',
  op: opPath(path),
  node: nodeIn(path),
  visit: 0,
  status,
  outcome: outcome(status, updates),
  attempts: 1,
  elapsedMs: 1,
});
const asks = (path: string): Fact => ({
  type: 'question.asked',
  op: opPath(path),
  id: 'q1',
  node: 'gate',
  kind: 'freeform',
  text: 'Which berth?',
  options: [],
});
const replies = (path: string, unusable?: string): Fact => ({
  type: 'call.completed',
  op: opPath(path),
  key: key(path),
  result: { inline: 'a reply' },
  elapsedMs: 1,
  ...(unusable === undefined ? {} : { unusable }),
});
const nodeIn = (path: string): string => /([a-z]+)#\d+$/.exec(path)?.[1] ?? '';

/** The runs of a chain: each but the first resumes the one before it, at a node where one is named. */
function chain(...runs: readonly { readonly enterAt?: string; readonly facts: readonly Fact[] }[]): PipelineState {
  return fold(
    pipelineState,
    runs.flatMap(({ enterAt, facts }, index) => {
      const ref = runRef(index + 1);
      const resume = index === 0 ? {} : { resume: { run: runRef(index).run, seq: seqOf(0) } };
      const begun = { ...started(ref), pipeline: 'p', ...resume, ...(enterAt === undefined ? {} : { enterAt }) } as Fact;
      return entries(ref, [begun, ...facts]);
    }),
  );
}

describe('the replies of a visit before it ended', () => {
  const model = 'main/plan#0/try#1/model#0';

  it('are there until it ends, also in the run that resumes it', () => {
    const before = { facts: [begins('main/plan#0'), replies(model)] };
    const result = expect.objectContaining({ ref: runRef(1), seq: 2 }) as unknown;
    expect([...chain(before).received]).toEqual([[model, { reply: key(model), result }]]);
    expect(chain(before, { facts: [begins('main/plan#0')] }).received.size).toBe(1);
    expect(chain(before, { facts: [begins('main/plan#0'), ends('main/plan#0')] }).received.size).toBe(0);
  });

  it('include none that can’t be used', () => {
    expect(chain({ facts: [begins('main/plan#0'), replies(model, 'status 1')] }).received.size).toBe(0);
  });

  it('include those of calls inside under their own paths, until the call around is tried again', () => {
    const inside = [begins('main/plan#0'), replies(`${model}/review#0`)];
    expect([...chain({ facts: inside }).received.keys()]).toEqual([`${model}/review#0`]);
    const failed = { type: 'call.failed', op: opPath(model), key: key(model), elapsedMs: 1, message: 'busy' } as const;
    expect(chain({ facts: [...inside, failed] }).received.size).toBe(1);
    expect(chain({ facts: [...inside, { ...failed, retryInMs: 10 }] }).received.size).toBe(0);
  });
});

describe('a resume', () => {
  const jump: Fact = { type: 'edge.selected', op: opPath('main'), from: 'plan', to: 'plan', via: 'retry_target' };
  const walked = { facts: [begins('main/plan#0'), ends('main/plan#0', 'fail'), jump] };

  it('continues with what is left of the limits, and gets new ones where it names a node', () => {
    expect(chain(walked, { facts: [] })).toMatchObject({ steps: 1, jumps: 1 });
    expect(chain(walked, { enterAt: 'plan', facts: [] })).toMatchObject({ steps: 0, jumps: 0 });
  });

  it('does not wait for the questions that the run before was waiting for', () => {
    const waiting = { facts: [begins('main/gate#0'), asks('main/gate#0/try#1')] };
    expect([...chain(waiting).questions.keys()]).toEqual(['q1']);
    expect(chain(waiting, { facts: [] })).toMatchObject({ questions: new Map(), questionCount: 1 });
  });

  it('summarises what came before for its first model stage, and for no other', () => {
    expect(chain(walked).degradeNext).toBe(false);
    expect(chain(walked, { facts: [] }).degradeNext).toBe(true);
    expect(chain(walked, { facts: [begins('main/plan#1', 1)] }).degradeNext).toBe(false);
  });
});

it('names a goal gate as unmet only where the run ends at it', () => {
  const checked = (target?: string): Fact => ({
    type: 'gate.checked',
    op: opPath('main'),
    satisfied: false,
    gates: { check: 'unsatisfied' },
    node: 'check',
    ...(target === undefined ? {} : { target }),
  });
  expect(chain({ facts: [checked()] }).unmetGate).toBe('check');
  expect(chain({ facts: [checked(), checked('plan')] }).unmetGate).toBeUndefined();
});

describe('a branch', () => {
  const into = (path: string): Fact => ({ ...begins(path), branch: { of: 'fan', id: 'a', index: 0 } }) as Fact;
  const inBranch = [begins('main/fan#0'), into('main/fan#0[0]/a#0'), ends('main/fan#0[0]/a#0', 'success', { found: { crates: 3 } })];

  it('changes a copy of the context around it', () => {
    const { main } = chain({ facts: [begins('main/plan#0'), ends('main/plan#0', 'success', { list: ['x'] }), ...inBranch] });
    const branch = main.branches.get(0);
    expect(branch?.context).toMatchObject({ list: ['x'], found: { crates: 3 } });
    expect(main.context).not.toHaveProperty('found');
    expect(branch?.context['list']).not.toBe(main.context['list']);
  });

  it('is gone when its parallel node has ended: only its history stays', () => {
    const results = { 'parallel.results': [{ id: 'a', outcome: 'success' }] };
    const { main } = chain({ facts: [...inBranch, ends('main/fan#0', 'success', results)] });
    expect(main.branches.size).toBe(0);
    expect(main.history).toMatchObject([{ node_id: 'fan', branches: [{ id: 'a', node_history: [{ node_id: 'a' }] }] }]);
  });
});

it('counts a node that was skipped as one that never ran', () => {
  const { results, main } = chain({ facts: [begins('main/check#0'), ends('main/check#0', 'skipped')] });
  expect([...results]).toEqual([['check', undefined]]);
  expect(main.history).toMatchObject([{ node_id: 'check', outcome: 'skipped' }]);
});

it.each(['pump#0', '', 'main', 'elsewhere/pump#0', 'a[b', '[0]', '/'])(
  'takes an operation at %j, which no walk has, for one of the outermost walk',
  (op) => {
    expect(() => chain({ facts: [begins(op), ends(op)] })).not.toThrow();
  },
);
