/** `--plan` of a pipeline: where it begins, which nodes follow, what is reused. Nothing runs. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { JournalEvent } from '../../../journal/event.js';
import type { Workflow } from '../../../journal/ids.js';
import type { RunFile } from '../../../journal/store.js';
import { rejectResult } from '../../../src/session/upkeep/reject-result.js';
import { planPipeline, type PipelinePlan } from '../../../src/session/pipeline/plan-pipeline.js';
import { renderPipelinePlan } from '../../../cli/render/reports/pipeline-plan.js';
import { styleFor } from '../../../cli/render/style.js';
import { pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

const TEXT = pipeline(
  `a [prompt="A"]; t [shape=parallelogram, tool_command="echo x >> ran.txt; test -f mended"]; fan [shape=component]; l [prompt="L"]; r [prompt="R"]
   m [shape=tripleoctagon]; look [shape=diamond]; c [prompt="C"]; d [prompt="D"]
   start -> a -> t -> fan; fan -> l -> m; fan -> r -> m; m -> look; look -> c [condition="context.x=1"]; look -> d; c -> exit; d -> exit`,
);

let place: Workshop | undefined;
afterEach(() => place?.remove());

const steps = (plan: PipelinePlan | undefined): readonly string[] =>
  (plan?.nodes ?? []).map(({ node, reply }) => `${node} ${reply ?? '-'}`);

it('lists the nodes of a first run as far as their order is known, and runs nothing', async () => {
  place = workshop(TEXT);
  const plan = await planPipeline(place.options());
  expect(plan).toMatchObject({ begins: 'anew', resume: null, afterwards: ['c', 'd'] });
  expect(steps(plan)).toEqual(['start -', 'a executed', 't -', 'fan -', 'm -', 'look -']);
  expect(plan?.nodes[3]?.branches).toEqual(['l', 'r']);
  expect(existsSync(path.join(place.folder, 'ran.txt'))).toBe(false);
  expect(existsSync(path.join(place.folder, '.mlld'))).toBe(false);
});

/** Written as `fan(b b2 | c)`, with the reply of each model stage behind its node. */
const written = ({ nodes, afterwards }: Pick<PipelinePlan, 'nodes' | 'afterwards'>): string =>
  [
    ...nodes.map(({ node, visit, reply, inBranches }) => {
      const inside = inBranches ? `(${inBranches.map(written).join(' | ')})` : '';
      return `${node}${visit === 0 ? '' : `#${visit}`}${reply === null ? '' : `:${reply}`}${inside}`;
    }),
    ...(afterwards.length === 0 ? [] : [`then ${afterwards.join(' or ')}`]),
  ].join(' ');

describe('the branches of a parallel node', () => {
  const NESTED = pipeline(
    `fan [shape=component]; b [prompt="B"]; b2 [prompt="B2"]; in [shape=component]; x [prompt="X"]; y [shape=parallelogram, tool_command="test -f mended"]
     inner [shape=tripleoctagon]; meet [shape=tripleoctagon]; look [shape=diamond]; z [prompt="Z"]
     start -> fan; fan -> b -> b2 -> meet; fan -> in; in -> x -> inner; in -> y -> inner; inner -> meet; fan -> look
     look -> z [condition="context.q=1"]; look -> meet; z -> meet; meet -> exit`,
  );

  it('are listed up to its join, with parallel nodes in them', async () => {
    place = workshop(NESTED);
    const plan = (await planPipeline(place.options())) as PipelinePlan;
    expect(written(plan)).toBe('start fan(b:executed b2:executed | in(x:executed | y) inner | look then z or meet) meet exit');
    const lines = renderPipelinePlan(plan, styleFor(false)).split('\n');
    expect(lines.slice(3, 12)).toEqual([
      '  fan    parallel, branches b, in, look',
      '    - b   codergen, model is called',
      '      b2  codergen, model is called',
      '    - in     parallel, branches x, y',
      '        - x  codergen, model is called',
      '        - y  tool',
      '      inner  parallel.fan_in',
      '    - look  conditional',
      '    then z or meet, depending on look',
    ]);
    expect(lines.at(-2)).toBe('Estimate: 3 calls, cost unknown; not counted: what follows look');
  });

  it('are entered where a resume continues them', async () => {
    place = workshop(
      NESTED.replaceAll('shape=component', 'shape=component, error_policy=fail_fast').replace('test -f', 'sleep 0.3; test -f'),
    );
    await place.run();
    const plan = async (): Promise<string> =>
      written((await planPipeline({ ...(place as Workshop).options(), resume: '' })) as PipelinePlan);
    expect(await plan()).toBe('fan#1(in#1(y#1) inner) meet exit');
    place.write('mended', '');
    const { events } = await place.run({ resume: '' });
    const visited = events.flatMap((event) => (event.type === 'node.started' ? [event.op] : []));
    expect(visited).toEqual([
      'main/fan#1',
      'main/fan#1[1]/in#1',
      'main/fan#1[1]/in#1[1]/y#1',
      'main/fan#1[1]/inner#0',
      'main/meet#0',
      'main/exit#0',
    ]);
  });

  it('reuse the reply that a stage in them had before the run was cut short', async () => {
    place = workshop(NESTED);
    const ending = new AbortController();
    const onEvent = (event: JournalEvent): void => {
      if (event.type === 'call.completed' && event.op.startsWith('main/fan#0[0]/b#0/')) ending.abort();
    };
    await place.run({ signal: ending.signal, onEvent });
    const plan = written((await planPipeline({ ...place.options(), resume: '' })) as PipelinePlan);
    expect(plan).toContain('b:reused b2:executed');
  });

  it('say that some may be called off where the join does not wait for all', async () => {
    place = workshop(NESTED.replace('fan [shape=component]', 'fan [shape=component, join_policy=first_success]'));
    const plan = (await planPipeline(place.options())) as PipelinePlan;
    expect(renderPipelinePlan(plan, styleFor(false))).toContain(
      '\nEstimate: 3 calls, cost unknown; some branches may be called off; not counted',
    );
  });

  it('end where a way leads back to a parallel node around', async () => {
    place = workshop(pipeline('fan [shape=component]; b [prompt="B"]; c [prompt="C"]; start -> fan; fan -> b -> fan; fan -> c -> exit'));
    expect(written((await planPipeline(place.options())) as PipelinePlan)).toMatch(/^start fan\(b:executed fan\(\).* \| c:executed\)/);
  });
});

it('says where a resume continues, and when nothing is left to resume', async () => {
  place = workshop(TEXT);
  const { report } = await place.run();
  expect(report.status).toBe('failed');
  const plan = await planPipeline({ ...place.options(), resume: '' });
  expect(plan).toMatchObject({ begins: 'resumed', resume: { run: report.journal?.run, place: 'at' } });
  expect(plan?.nodes[0]).toMatchObject({ node: 't', visit: 1 });
  expect(steps(await planPipeline({ ...place.options(), resume: 'a', checkpoint: true }))[0]).toBe('a executed');
  place.write('mended', '');
  expect((await place.run({ resume: '' })).report.status).toBe('completed');
  expect(await planPipeline({ ...place.options(), resume: '' })).toMatchObject({ begins: 'nothing', nodes: [] });
});

it('reuses the reply that a stage had before its run was cut short', async () => {
  place = workshop(TEXT);
  const ending = new AbortController();
  await place.run({ signal: ending.signal, onEvent: ({ type }) => void (type === 'call.completed' && ending.abort()) });
  expect(steps(await planPipeline({ ...place.options(), resume: '' })).slice(0, 2)).toEqual(['a reused', 't -']);
  await rejectResult({
    store: place.store,
    file: (await place.store.runs('p.dot' as Workflow))[0] as RunFile,
    path: 'main/a#0/try#1/model#0',
    name: 'p.dot',
    by: { argv: [], host: 'here', pid: 1, versions: { mlld: 'test', node: '20' } },
    nowMs: Date.now,
    onDefect: () => undefined,
  });
  expect(steps(await planPipeline({ ...place.options(), resume: '' })).slice(0, 2)).toEqual(['a executed', 't -']);
  expect((await place.run({ resume: '' })).events.filter(({ type }) => type === 'call.reused')).toEqual([]);
});

it('knows the replies of a fork source, and says where none can be reused', async () => {
  place = workshop(TEXT);
  await place.run();
  place.write('copy.dot', TEXT);
  place.write('other.dot', TEXT.replace('digraph g', 'digraph h'));
  const planOf = (name: string): Promise<PipelinePlan | undefined> =>
    planPipeline({ ...(place as Workshop).options(), file: `${place?.folder}/${name}`, name, forks: ['p.dot'] });
  const copy = await planOf('copy.dot');
  expect([steps(copy)[1], copy?.notices]).toEqual(['a if-same', []]);
  const other = await planOf('other.dot');
  expect([steps(other)[1], other?.notices]).toEqual(['a executed', [expect.stringContaining('a pipeline called h, so none is reused')]]);
});

it('refuses what the run would refuse', async () => {
  place = workshop(TEXT);
  await expect(planPipeline({ ...place.options(), resume: '' })).rejects.toMatchObject({ code: 'RESUME_NOTHING' });
});

const BOSS = pipeline(
  'a [prompt="A"]; boss [shape=house, manager.poll_interval="1ms"]; z [prompt="Z"]; start -> a -> boss -> z -> exit',
  'stack.child_dotfile="kid.dot"',
);
const KID = pipeline(
  'k [prompt="K"]; t [shape=parallelogram, tool_command="test -f mended"]; l [prompt="L"]; start -> k -> t -> l -> exit',
);

const childOf = (plan: PipelinePlan | undefined): PipelinePlan['nodes'][number]['child'] => plan?.nodes.find(({ child }) => child)?.child;
const childSteps = (plan: PipelinePlan | undefined): readonly string[] => {
  const child = childOf(plan);
  return child === undefined || child.problem !== undefined ? [child?.problem ?? ''] : [child.begins, ...steps(child as PipelinePlan)];
};

it('lists the nodes of child pipelines, from where a resume continues them', async () => {
  place = workshop(BOSS);
  expect(childSteps(await planPipeline(place.options()))).toEqual([expect.stringContaining('There is no file kid.dot')]);
  place.write('kid.dot', KID);
  const plan = await planPipeline(place.options());
  expect(childSteps(plan)).toEqual(['anew', 'start -', 'k executed', 't -', 'l executed', 'exit -']);
  expect(renderPipelinePlan(plan as PipelinePlan, styleFor(false))).toContain(
    '\n  boss   stack.manager_loop, child pipeline kid.dot starts\n      start  start\n      k      codergen, model is called\n',
  );
  expect(existsSync(path.join(place.folder, '.mlld'))).toBe(false);
  expect((await place.run()).report.status).toBe('failed');
  expect(childSteps(await planPipeline({ ...place.options(), resume: '' }))).toEqual(['resumed', 't -', 'l executed', 'exit -']);
  const anew = ['anew', 'start -', 'k if-same', 't -', 'l executed', 'exit -'];
  expect(childSteps(await planPipeline({ ...place.options(), checkpoint: true }))).toEqual(anew);
  expect(childSteps(await planPipeline({ ...place.options(), checkpoint: true, resume: 'boss' }))).toEqual(anew);
  place.write('mended', '');
  expect((await place.run({ resume: '' })).report.status).toBe('completed');
});

it('says why a child pipeline has no plan', async () => {
  place = workshop(BOSS.replace('kid.dot', 'p.dot'));
  expect(childSteps(await planPipeline(place.options()))).toEqual(['it starts itself']);
  place.write('kid.dot', 'digraph k { a [prompt="A"] }');
  place.write('p.dot', BOSS);
  expect(childSteps(await planPipeline(place.options()))).toEqual([expect.stringContaining('start_node')]);
});
