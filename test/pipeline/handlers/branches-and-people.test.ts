import { describe, expect, it } from 'vitest';
import { pipelineState } from '../../../replay/pipeline/pipeline-state.js';
import { fanIn } from '../../../src/pipeline/handlers/fan-in.js';
import { human } from '../../../src/pipeline/handlers/human.js';
import { managerLoop } from '../../../src/pipeline/handlers/manager-loop.js';
import { parallel } from '../../../src/pipeline/handlers/parallel.js';
import { outcomeOf, type StageStatus } from '../../../src/pipeline/model/outcome.js';
import type { ChildProgress } from '../../../src/pipeline/stage/child-run.js';
import type { WalkEnd } from '../../../src/pipeline/stage/walk-context.js';
import { bareStage, type BareStageOptions } from '../../support/bare-stage.js';

describe('a fan-in', () => {
  const branch = (id: string, outcome: StageStatus, score = 0) => ({ id, outcome, score, last_node: id, notes: '', failure_reason: '' });
  const meeting = (...results: readonly ReturnType<typeof branch>[]) =>
    bareStage('a [shape=tripleoctagon]; start -> a -> exit', { context: { 'parallel.results': results } }).stage;

  it('picks by status, then score, then id', async () => {
    const best = async (...results: readonly ReturnType<typeof branch>[]): Promise<unknown> =>
      (await fanIn.handle(meeting(...results)))?.context_updates['parallel.fan_in.best_id'];
    expect(await best(branch('x', 'partial_success', 9), branch('y', 'success', 1))).toBe('y');
    expect(await best(branch('x', 'success', 1), branch('y', 'success', 2))).toBe('y');
    expect(await best(branch('y', 'success'), branch('x', 'success'))).toBe('x');
  });

  it('fails for good without a result that can be picked', async () => {
    await expect(fanIn.handle(meeting())).rejects.toMatchObject({ kind: 'permanent', message: expect.stringContaining('no results') });
    await expect(fanIn.handle(meeting(branch('x', 'fail')))).rejects.toMatchObject({ message: 'every branch before a failed' });
  });

  it('names the parallel node to resume at, which a bare resume would not enter', async () => {
    const body = 'f [shape=component]; g [shape=component]; x; a [shape=tripleoctagon]; start -> f -> x -> a -> exit; a -> g -> exit';
    const { stage } = bareStage(body, { context: { 'parallel.results': [branch('x', 'fail')] } });
    const history = ['start', 'g', 'f', 'a'].map((node_id) => ({ node_id, outcome: 'fail' as const, visit: 0, attempts: 1 }));
    const failing = { ...stage, walks: [{ ...pipelineState.initial().main, history }] };
    await expect(fanIn.handle(failing)).rejects.toMatchObject({ message: 'every branch before a failed; --resume f runs them again' });
  });
});

describe('a parallel node', () => {
  const BODY = 'a [shape=component, ATTRIBUTES]; x; y; start -> a; a -> x; a -> y; x -> exit; y -> exit';
  const walking = (attributes: string, statuses: { readonly [entry: string]: StageStatus }) =>
    bareStage(BODY.replace('ATTRIBUTES', attributes), {
      walkBranch: async ({ bounds }) => {
        const entry = bounds?.entry ?? '';
        const outcome = outcomeOf(statuses[entry] ?? 'success', { failure_reason: `${entry} broke` });
        const walk = { ...pipelineState.initial().main, current: entry, outcome, context: { [`by.${entry}`]: 1, score: '3' } };
        return { kind: 'completed', walk } as unknown as WalkEnd;
      },
    }).stage;

  it('joins the ends of its branches, each with what it changed', async () => {
    expect(await parallel.handle(walking('label=""', {}))).toMatchObject({
      status: 'success',
      context_updates: {
        'parallel.branch_count': 2,
        'parallel.success_count': 2,
        'parallel.results': [
          { id: 'x', outcome: 'success', score: 3, context_updates: { 'by.x': 1 } },
          { id: 'y', outcome: 'success', score: 3, context_updates: { 'by.y': 1 } },
        ],
      },
    });
  });

  it('starts no branch after a failure that ends it', async () => {
    expect(await parallel.handle(walking('error_policy="fail_fast", max_parallel=1', { x: 'fail' }))).toMatchObject({
      status: 'fail',
      failure_reason: 'the branch x failed: x broke',
      context_updates: { 'parallel.results': [{ outcome: 'fail' }, { outcome: 'skipped' }] },
    });
  });
});

describe('a human gate', () => {
  const GATE = 'a [shape=hexagon, label="Ship it?"]; start -> a; a -> exit [label="[Y] Yes"]; a -> b [label="[N] No"]; b -> exit';
  const answering = (...texts: readonly (string | undefined)[]) => {
    const said: string[] = [];
    const left = [...texts];
    const interviewer = {
      by: 'console' as const,
      onUnmatched: 'ask-again' as const,
      ask: async () => {
        const text = left.shift();
        return text === undefined ? { kind: 'skipped' as const } : { kind: 'text' as const, text };
      },
      inform: (message: string) => void said.push(message),
    };
    const services = { interviewer } as unknown as BareStageOptions['services'] & object;
    return { ...bareStage(GATE, { services }), said };
  };

  it('records the question and its answer, and leads along the chosen edge', async () => {
    const { stage, facts, said } = answering('maybe', 'n');
    expect(await human.handle(stage)).toMatchObject({
      status: 'success',
      suggested_next_ids: ['b'],
      context_updates: { 'human.gate.selected': 'N' },
    });
    expect(said).toEqual(['"maybe" is not one of the choices']);
    expect(facts).toMatchObject([
      { type: 'question.asked', node: 'a', id: 'q1', text: 'Ship it?' },
      { type: 'question.answered', node: 'a', id: 'q1', by: 'console' },
    ]);
  });

  it('fails for good when its question is skipped', async () => {
    await expect(human.handle(answering(undefined).stage)).rejects.toMatchObject({ message: 'the question of a was skipped' });
  });
});

describe('a manager node', () => {
  const BODY = 'stack.child_dotfile="child.dot"\na [shape=house, ATTRIBUTES]; start -> a -> exit';
  const watching = (attributes: string, ...statuses: readonly ChildProgress['status'][]) => {
    const left = [...statuses];
    const started: string[] = [];
    let interrupted = 0;
    const child = {
      runId: 'r1',
      observe: async () => ({ status: left.length > 1 ? left.shift() : left[0], outcome: '', currentNode: 'n', completed: 1, retries: 0 }),
      ended: Promise.resolve(),
      interrupt: () => void interrupted++,
      stageFolder: async () => '/p/child/n',
    };
    const written: string[] = [];
    const { stage } = bareStage(BODY.replace('ATTRIBUTES', attributes), {
      services: {
        startChild: async ({ file }: { readonly file: string }) => {
          started.push(file);
          return child;
        },
      } as unknown as BareStageOptions['services'] & object,
      perform: (kind, request) => {
        if (kind === 'file.write') written.push((request as { readonly path: string }).path);
        return {};
      },
    });
    return { stage, started, written, interrupted: () => interrupted };
  };

  it('waits for its child, reports what it saw, and never leaves it behind', async () => {
    const { stage, started, interrupted } = watching('label=""', 'running', 'running', 'completed');
    expect(await managerLoop.handle(stage)).toMatchObject({ status: 'success', context_updates: { 'stack.child.status': 'completed' } });
    expect(started).toEqual(['/p/child.dot']);
    expect(interrupted()).toBe(1);
  });

  it('fails with its child', async () => {
    await expect(managerLoop.handle(watching('label=""', 'failed').stage)).rejects.toMatchObject({
      kind: 'permanent',
      message: 'the child pipeline failed',
    });
  });

  it('ends a child that is still running after its cycles, and steers it once per cooldown', async () => {
    const { stage, written, interrupted } = watching('prompt="hurry", manager.actions="steer", manager.max_cycles=3', 'running');
    await expect(managerLoop.handle(stage)).rejects.toMatchObject({ message: expect.stringContaining('manager.max_cycles') });
    expect(written).toEqual(['/p/child/n/steer.md']);
    expect(interrupted()).toBe(1);
  });
});
