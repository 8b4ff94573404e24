/** A resume returns to a goal gate, inside the branch that it is in, and the join sees what came of it. graph-pipelines.md 10.3. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Workflow } from '../../../journal/ids.js';
import { postMortemOf } from '../../../src/api/reports/postmortem.js';
import type { Backend } from '../../../src/pipeline/stage/backend.js';
import { planPipeline } from '../../../src/session/pipeline/plan-pipeline.js';
import type { PipelineRunOptions } from '../../../src/session/pipeline/run-pipeline-options.js';
import { pipeline, runAndReplay, workshop, type PipelineRun, type Workshop } from '../../support/pipeline-run.js';

let place: Workshop;
let asked: string[] = [];
const failing = new Set<string>();

beforeEach(() => failing.clear());
afterEach(() => place.remove());

const execute: Backend['execute'] = async ({ node }) => {
  asked.push(node.id);
  if (failing.has(node.id)) throw Object.assign(new Error('refused'), { status: 400 });
  return { reply: `${node.id} says` };
};

const own = (): Partial<PipelineRunOptions> => ({ backend: 'own:', backends: new Map([['own', () => ({ name: 'own:', execute })]]) });

async function run(options: Partial<PipelineRunOptions> = {}): Promise<PipelineRun> {
  asked = [];
  const ran = await runAndReplay(place, { ...own(), ...options });
  asked.sort();
  return ran;
}

const resultsOf = ({ checkpoint }: PipelineRun): readonly { readonly context_updates: object }[] =>
  checkpoint.context['parallel.results'] as unknown as readonly { readonly context_updates: object }[];

const resumedAt = async (): Promise<unknown> => {
  const [ran] = (await place.store.runs('p.dot' as Workflow)).slice(-1);
  return ran && (await postMortemOf(place.store, ran)).pipeline?.resume;
};

/** The gate `b` has a node behind it that its failure leads to as well; `c` fails and is no gate. */
const graph = (fan = ''): string =>
  pipeline(
    `before [shape=parallelogram, tool_command="echo early"]; fan [shape=component${fan}]; a [prompt="1"]; b [prompt="2", goal_gate=true]
     b2 [prompt="3"]; c [prompt="4"]; meet [shape=tripleoctagon]; late [shape=parallelogram, tool_command="echo late"]; last [prompt="5"]
     start -> before -> fan; fan -> a -> meet; fan -> b; b -> b2; b -> b2 [condition="outcome=fail"]; b2 -> meet; fan -> c -> meet
     meet -> late -> last -> exit`,
  );

it('enters the gate in its branch, keeps the others as they ended, and goes on behind the join', async () => {
  place = workshop(graph());
  for (const node of ['b', 'c']) failing.add(node);
  expect((await run()).report.error?.message).toBe('goal gate not satisfied: b');
  expect(asked).toEqual(['a', 'b', 'b2', 'c', 'last']);
  expect(await resumedAt()).toEqual({ node: 'fan', place: 'at' });
  const plan = await planPipeline({ ...place.options(), ...own(), resume: '' });
  expect(plan?.nodes.slice(0, 2)).toMatchObject([{ node: 'fan', visit: 1, branches: ['b'] }, { node: 'meet' }]);
  failing.delete('b');
  const mended = await run({ resume: '' });
  expect(mended.report.status).toBe('completed');
  expect(asked).toEqual(['b', 'b2', 'last']);
  expect(resultsOf(mended)).toMatchObject([
    { id: 'a', outcome: 'success', context_updates: { last_stage: 'a', last_response: 'a says' } },
    { id: 'b', outcome: 'success', context_updates: { last_stage: 'b2' } },
    { id: 'c', outcome: 'fail' },
  ]);
  // `late` ran since, and is no part of what the branches changed.
  expect(resultsOf(mended).map(({ context_updates }) => Object.keys(context_updates).toSorted())).toEqual([
    ['last_response', 'last_stage'],
    ['last_response', 'last_stage'],
    [],
  ]);
  expect(mended.events.find(({ type }) => type === 'node.started')).toMatchObject({ op: 'main/fan#1', continues: 0 });
});

it('enters it as often as it is not met', async () => {
  place = workshop(graph());
  failing.add('b');
  await run();
  expect((await run({ resume: '' })).report.error?.message).toBe('goal gate not satisfied: b');
  expect(asked).toEqual(['b', 'b2', 'last']);
  failing.clear();
  expect((await run({ resume: '' })).report.status).toBe('completed');
  expect(asked).toEqual(['b', 'b2', 'last']);
});

it('enters every gate that is not met, and those in branches of branches', async () => {
  place = workshop(
    pipeline(
      `fan [shape=component]; z [prompt="z", goal_gate=true]; in [shape=component]; x [prompt="x", goal_gate=true]; y [prompt="y"]
       both [shape=tripleoctagon]; meet [shape=tripleoctagon]; start -> fan; fan -> in; fan -> z -> meet; in -> x -> both; in -> y -> both
       both -> meet; meet -> exit`,
    ),
  );
  for (const node of ['x', 'z']) failing.add(node);
  expect((await run()).report.status).toBe('failed');
  failing.clear();
  expect((await run({ resume: '' })).report.status).toBe('completed');
  expect(asked).toEqual(['x', 'z']);
});

it('begins the branches anew where the walk comes to the node again by itself', async () => {
  place = workshop(
    pipeline(
      `fan [shape=component]; a [prompt="1"]; b [prompt="2", goal_gate=true]; meet [shape=tripleoctagon]; start -> fan; fan -> a -> meet
       fan -> b -> meet; meet -> exit`,
      'retry_target=fan\nmax_steps=5',
    ),
  );
  failing.add('b');
  expect((await run()).report.error?.message).toContain('max_steps');
  expect((await run({ resume: '' })).report.error?.message).toContain('max_steps');
  expect(asked).toEqual(['a', 'a', 'b', 'b']); // and once more over the target of the gate
});

it('enters the gate alone where the branches that are kept would decide the join before it', async () => {
  place = workshop(graph(', join_policy=k_of_n, k=2'));
  failing.add('b');
  await run();
  expect(await resumedAt()).toEqual({ node: 'b', place: 'at' });
  failing.clear();
  expect((await run({ resume: '' })).report.status).toBe('completed');
  expect(asked).toEqual(['b', 'b2', 'last']);
});

it('jumps to the target of a gate again, when the run had reached its limit of jumps', async () => {
  place = workshop(
    pipeline(
      'a [prompt="1"]; b [prompt="2", goal_gate=true, retry_target=a]; start -> a -> b; b -> exit; b -> exit [condition="outcome=fail"]',
      'max_jumps=2',
    ),
  );
  failing.add('b');
  expect((await run()).report.error?.message).toContain('max_jumps');
  expect(asked).toEqual(['a', 'a', 'a', 'b', 'b', 'b']);
  expect(await resumedAt()).toEqual({ node: 'exit', place: 'at' });
  expect((await run({ resume: '' })).report.error?.message).toContain('max_jumps');
  expect(asked).toEqual(['a', 'a', 'b', 'b']);
  failing.clear();
  expect((await run({ resume: '' })).report.status).toBe('completed');
  expect(asked).toEqual(['a', 'b']);
});
