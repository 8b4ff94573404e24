/**
 * A parallel node that failed, or whose time was over, continues its branches: nothing that ended is executed again.
 * graph-pipelines.md 7.5, 10.3.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Workflow } from '../../../journal/ids.js';
import type { RunFile } from '../../../journal/store.js';
import type { Backend } from '../../../src/pipeline/stage/backend.js';
import { explainRun } from '../../../src/api/reports/explain.js';
import { planPipeline } from '../../../src/session/pipeline/plan-pipeline.js';
import type { PipelineRunOptions } from '../../../src/session/pipeline/run-pipeline-options.js';
import { newestChain } from '../../../src/session/pipeline/history/chain.js';
import { pipeline, runAndReplay, workshop, type PipelineRun, type Workshop } from '../../support/pipeline-run.js';

let place: Workshop;
let asked: string[] = [];
/** Nodes that fail when they are asked, and those that never reply. */
const failing = new Set<string>();
const silent = new Set<string>();
const silentOnce = new Set<string>();

beforeEach(() => {
  failing.clear();
  silent.clear();
});
afterEach(() => place.remove());

const execute: Backend['execute'] = async ({ node, signal }) => {
  asked.push(node.id);
  if (silent.has(node.id) || silentOnce.delete(node.id))
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('called off'))));
  if (failing.has(node.id)) {
    await new Promise((resolve) => setTimeout(resolve, 50)); // until the other branches are where they stay
    throw Object.assign(new Error('refused'), { status: 400 });
  }
  return { reply: `${node.id} says` };
};

const own = (): Partial<PipelineRunOptions> => ({ backend: 'own:', backends: new Map([['own', () => ({ name: 'own:', execute })]]) });

async function run(options: Partial<PipelineRunOptions> = {}): Promise<PipelineRun> {
  asked = [];
  const ran = await runAndReplay(place, { ...own(), ...options });
  asked.sort();
  return ran;
}

interface Result {
  readonly id: string;
  readonly outcome: string;
  readonly context_updates: object;
}
const resultsOf = ({ checkpoint }: PipelineRun): readonly Result[] => checkpoint.context['parallel.results'] as unknown as Result[];

const FAN = (attributes: string): string =>
  `before [prompt="zero"]; fan [shape=component, ${attributes}]; a [prompt="one"]; b [prompt="two"]; b2 [prompt="three"]; c [prompt="four"]
   c2 [prompt="five"]; meet [shape=tripleoctagon]; start -> before -> fan; fan -> a -> meet; fan -> b -> b2 -> meet; fan -> c -> c2 -> meet
   meet -> exit`;

describe('after a failure', () => {
  it('a branch that had not begun sees the outcome that the failed visit had seen', async () => {
    const graph = `before [prompt="zero"]; fan [shape=component, max_parallel=1, error_policy=fail_fast]; a [prompt="one"]; c [shape=diamond]
      c1 [prompt="two"]; c2 [prompt="three"]; meet [shape=tripleoctagon]; start -> before -> fan; fan -> a -> meet; fan -> c
      c1 -> meet; c2 -> meet; c -> c1 [condition="context.outcome=success"]; c -> c2 [condition="context.outcome=fail"]; meet -> exit`;
    place = workshop(pipeline(graph));
    failing.add('a');
    expect((await run()).report.status).toBe('failed');
    failing.clear();
    expect((await run({ resume: '' })).report.status).toBe('completed');
    expect(asked).toEqual(['a', 'c1']);
  });

  it('executes the node that failed and the one that was cut off, as often as the parallel node fails', async () => {
    place = workshop(pipeline(FAN('error_policy=fail_fast')));
    failing.add('b2');
    silent.add('c2');
    expect((await run()).report.status).toBe('failed');
    expect(asked).toEqual(['a', 'b', 'b2', 'before', 'c', 'c2']);
    expect((await run({ resume: '' })).report.status).toBe('failed');
    expect(asked).toEqual(['b2', 'c2']);
    failing.clear();
    silent.clear();
    const mended = await run({ resume: '' });
    expect(mended.report.status).toBe('completed');
    expect(asked).toEqual(['b2', 'c2']);
    expect(resultsOf(mended)).toMatchObject([
      { id: 'a', outcome: 'success', context_updates: { last_stage: 'a', last_response: 'a says' } },
      { id: 'b', outcome: 'success', context_updates: { last_stage: 'b2' } },
      { id: 'c', outcome: 'success', context_updates: { last_stage: 'c2' } },
    ]);
    expect(mended.checkpoint.node_history.find(({ visit, node_id }) => node_id === 'fan' && visit === 2)?.branches).toMatchObject([
      { id: 'a', node_history: [{ node_id: 'a', visit: 0 }] },
      {
        id: 'b',
        node_history: [{ node_id: 'b' }, { node_id: 'b2', visit: 0, outcome: 'fail' }, { visit: 1, outcome: 'fail' }, { visit: 2 }],
      },
      { id: 'c', node_history: [{ node_id: 'c' }, { node_id: 'c2', visit: 2 }] },
    ]);
  });

  it.each([
    ['join_policy=k_of_n, k=3', ['b2']],
    ['join_policy=quorum', ['a', 'b2']],
    ['join_policy=first_success', ['a', 'b2', 'c2']],
    ['join_policy=first_success, max_parallel=1', ['a']],
  ])('executes what failed with %s', async (attributes, again) => {
    place = workshop(pipeline(FAN(attributes)));
    for (const node of ['b2', 'a', 'c2'].slice(0, attributes.includes('k_of_n') ? 1 : attributes.includes('quorum') ? 2 : 3))
      failing.add(node);
    expect((await run()).report.status).toBe('failed');
    failing.clear();
    expect((await run({ resume: '' })).report.status).toBe('completed');
    expect(asked).toEqual(again);
  });

  it('continues branches inside branches, whether the inner node failed or was cut off', async () => {
    place = workshop(
      pipeline(
        `fan [shape=component, error_policy=fail_fast]; z [prompt="last"]; in [shape=component, error_policy=fail_fast]; x [prompt="x"]
         y [prompt="y"]; both [shape=tripleoctagon]; meet [shape=tripleoctagon]; start -> fan; fan -> in; fan -> z -> meet; in -> x -> both
         in -> y -> both; both -> meet; meet -> exit`,
      ),
    );
    failing.add('y');
    silent.add('z');
    await run();
    failing.clear();
    silent.clear();
    failing.add('z');
    silent.add('y');
    expect((await run({ resume: '' })).report.status).toBe('failed');
    expect(asked).toEqual(['y', 'z']);
    failing.clear();
    silent.clear();
    expect((await run({ resume: '' })).report.status).toBe('completed');
    expect(asked).toEqual(['y', 'z']);
  });

  it('gives the branches the context of the failed visit, without what that visit put into it', async () => {
    place = workshop(
      pipeline(
        `first [shape=component]; f1 [prompt="f"]; m1 [shape=tripleoctagon]; start -> first; first -> f1 -> m1; m1 -> before
         ${FAN('error_policy=fail_fast').replace('start -> before', 'before')}`,
      ),
    );
    failing.add('b2');
    await run();
    failing.clear();
    const mended = await run({ resume: '' });
    expect(mended.report.status).toBe('completed');
    for (const { context_updates } of resultsOf(mended))
      expect(Object.keys(context_updates).toSorted()).toEqual(['last_response', 'last_stage']);
  });

  it('starts all branches anew where the node is named, or reached by an edge', async () => {
    place = workshop(pipeline(FAN('error_policy=fail_fast')));
    failing.add('b2');
    await run();
    failing.clear();
    await run({ resume: 'fan' });
    expect(asked).toEqual(['a', 'b', 'b2', 'c', 'c2']);
    place.remove();
    place = workshop(pipeline(FAN('error_policy=fail_fast, retry_target=mend') + '; mend [prompt="m"]; mend -> fan', 'max_jumps=1'));
    failing.add('b2');
    await run();
    expect(asked).toEqual(['a', 'a', 'b', 'b', 'b2', 'b2', 'before', 'c', 'c', 'c2', 'c2', 'mend']);
  });

  it('starts all branches anew where the node is named, although a run went on inside of it', async () => {
    place = workshop(pipeline(FAN('error_policy=fail_fast')));
    silent.add('c2');
    const ending = new AbortController();
    asked = [];
    const begun = place.run({ ...own(), signal: ending.signal });
    await expect.poll(() => [...asked].sort(), { timeout: 20_000 }).toEqual(['a', 'b', 'b2', 'before', 'c', 'c2']);
    ending.abort();
    expect((await begun).report.status).toBe('interrupted');
    silent.clear();
    expect((await run({ resume: '' })).report.status).toBe('completed');
    expect(asked).toEqual(['c2']);
    const plan = await planPipeline({ ...place.options(), ...own(), resume: 'fan' });
    expect(plan?.nodes[0]?.branches).toEqual(['a', 'b', 'c']);
    expect((await run({ resume: 'fan' })).report.status).toBe('completed');
    expect(asked).toEqual(['a', 'b', 'b2', 'c', 'c2']);
  });

  it('plans only the branches that it will enter', async () => {
    place = workshop(pipeline(FAN('error_policy=fail_fast')));
    failing.add('b2');
    silent.add('c2');
    await run();
    const plan = await planPipeline({ ...place.options(), ...own(), resume: '' });
    expect(plan?.nodes[0]).toMatchObject({ node: 'fan', visit: 1, branches: ['b', 'c'] });
  });

  it('refuses to give the results of a branch to another one, or to continue at a node that is gone', async () => {
    place = workshop(pipeline(FAN('error_policy=fail_fast')));
    failing.add('b2');
    await run();
    failing.clear();
    const drawn = place.read('p.dot');
    place.write('p.dot', drawn.replace('fan -> a -> meet; ', 'a -> meet; fan -> c -> a; '));
    expect(String((await run({ resume: '' })).report.error)).toContain('the branches of fan are others now: c is where a was');
    place.write('p.dot', drawn.replaceAll('b2', 'b3'));
    const { error } = (await run({ resume: '' })).report;
    expect(error?.message).toContain('the node b2, at which the run would continue, is not in');
    expect(error?.hint).toContain('begin anew with --checkpoint instead, which reuses every reply');
    place.write('p.dot', `${drawn.slice(0, -1)}; d [prompt="d"]; fan -> d -> meet }`);
    expect((await run({ resume: '' })).report.status).toBe('completed');
    expect(asked).toEqual(['b2', 'd']);
  });
});

it('refuses other branches in an inner node that a resume which was stopped had not entered', async () => {
  place = workshop(
    pipeline(
      `fan [shape=component, join_policy=first_success, max_parallel=1]; z [prompt="last"]; in [shape=component, error_policy=fail_fast, max_parallel=1]
       x [prompt="x"]; y [prompt="y"]; both [shape=tripleoctagon]; meet [shape=tripleoctagon]; start -> fan; fan -> z -> meet; fan -> in
       in -> x -> both; in -> y -> both; both -> meet; meet -> exit`,
    ),
  );
  failing.add('z').add('y');
  await run();
  failing.clear();
  silent.add('z');
  await place.run({ ...own(), resume: '', signal: AbortSignal.timeout(400) });
  silent.clear();
  failing.add('z');
  const drawn = place.read('p.dot');
  place.write('p.dot', drawn.replace('in -> x -> both; in -> y -> both', 'in -> y -> both; in -> x -> both'));
  expect(String((await place.run({ ...own(), resume: '' })).report.error)).toContain('the branches of in are others now: y is where x was');
  place.write('p.dot', drawn);
  expect((await run({ resume: '' })).report.status).toBe('completed');
  expect(asked).toEqual(['y', 'z']);
});

describe('a time limit', () => {
  const LIMIT = 'timeout="450ms", retry_delay="1ms", retry_jitter=false';

  it('ends what still runs; a retry continues it, and so does a resume', async () => {
    place = workshop(pipeline(FAN(`${LIMIT}, max_retries=1`)));
    silent.add('c2');
    const failed = await run();
    expect(String(failed.report.error)).toContain('timed out after 450 ms');
    expect(asked).toEqual(['a', 'b', 'b2', 'before', 'c', 'c2', 'c2']);
    expect(resultsOf(failed)).toMatchObject([{ outcome: 'success' }, { outcome: 'success' }, { id: 'c', outcome: 'skipped' }]);
    silent.clear();
    expect((await run({ resume: '' })).report.status).toBe('completed');
    expect(asked).toEqual(['c2']);
  });

  it('makes the calls that it ended attempts of those that a retry makes, or accepts their failures where the graph leads on', async () => {
    place = workshop(pipeline(FAN(`${LIMIT}, max_retries=1`)));
    silentOnce.add('c2');
    const retried = await run();
    expect(asked).toEqual(['a', 'b', 'b2', 'before', 'c', 'c2', 'c2']);
    expect(retried.events.at(-1)).toMatchObject({ status: 'completed', totals: { executed: 6, failed: 0, retries: 1 } });
    place.remove();
    place = workshop(pipeline(`${FAN(`${LIMIT}, retry_target=mend`)}; mend [prompt="m"]; mend -> exit`));
    silentOnce.add('c2');
    const led = await run();
    expect(led.events.at(-1)).toMatchObject({ status: 'completed', totals: { executed: 6, failed: 1, accepted: 1 } });
  });

  it('leaves the calls of branches that ended as they ended, and counts retries in branches inside branches', async () => {
    const inner = (name: string, attributes: string): string =>
      `${name} [shape=component${attributes}]; ${name}x [prompt="x"]; ${name}y [prompt="y"]; ${name}2 [shape=tripleoctagon]; fan -> ${name}
       ${name} -> ${name}x -> ${name}2; ${name} -> ${name}y -> ${name}2; ${name}2 -> meet`;
    place = workshop(
      pipeline(`fan [shape=component, ${LIMIT}, max_retries=1]; bad [prompt="b"]; meet [shape=tripleoctagon]; start -> fan; fan -> bad -> meet
        ${inner('cut', '')}; ${inner('won', ', join_policy=first_success')}; meet -> exit`),
    );
    failing.add('bad');
    silentOnce.add('cutx').add('wonx');
    const { events } = await run();
    expect(asked).toEqual(['bad', 'cutx', 'cutx', 'cuty', 'wonx', 'wony']);
    expect(events.at(-1)).toMatchObject({ status: 'completed', totals: { executed: 3, failed: 2, accepted: 1, retries: 1 } });
    const [latest] = await place.store.runs('p.dot' as Workflow);
    const { calls } = await explainRun(place.store, latest as RunFile);
    expect(calls.map(({ fn, outcome }) => `${fn} ${outcome}`).toSorted()).toEqual([
      'g.bad failed',
      'g.cutx executed',
      'g.cuty executed',
      'g.wonx failed',
      'g.wony executed',
    ]);
  });

  it('leaves no question open in a branch that is cut off', async () => {
    const asking = (attributes: string): string =>
      pipeline(`fan [shape=component, ${attributes}]; ask [shape=hexagon, label="Go?"]; a [shape=parallelogram, tool_command="sleep 0.3"]
        meet [shape=tripleoctagon]; start -> fan; fan -> ask -> meet; fan -> a -> meet; meet -> exit`);
    for (const attributes of [`${LIMIT}, max_retries=1`, 'join_policy=first_success']) {
      place = workshop(asking(attributes));
      await run({ people: 'remote' });
      const chain = await newestChain(place.store, 'p.dot' as Workflow);
      expect(chain?.state.questionCount).toBe(attributes.includes('retries') ? 2 : 1);
      expect(chain?.state.questions.size).toBe(0);
      place.remove();
    }
  });

  it('of an inner node, of the one around it, and of a stage', async () => {
    place = workshop(
      pipeline(
        `fan [shape=component, timeout="1200ms", retry_delay="1ms", retry_jitter=false, max_retries=1]; z [prompt="last"]
         in [shape=component, ${LIMIT}, max_retries=3]; x [prompt="x", timeout="70ms", max_retries=1, retry_delay="1ms"]
         y [shape=parallelogram, tool_command="echo y; test -e been || { touch been; sleep 9; }"]; both [shape=tripleoctagon]
         meet [shape=tripleoctagon]; start -> fan; fan -> in; fan -> z -> meet; in -> x -> both; in -> y -> both; both -> meet; meet -> exit`,
      ),
    );
    silent.add('z');
    silent.add('x');
    const failed = await run();
    expect(String(failed.report.error)).toContain('timed out after 1200 ms');
    expect(new Set(asked)).toEqual(new Set(['x', 'z']));
    silent.clear();
    expect((await run({ resume: '' })).report.status).toBe('completed');
    expect(asked).toContain('z');
  });
});
