/** A resume that asks models continues no chain with the reply of a simulated stage in it. graph-pipelines.md 10.3. */
import { afterEach, describe, expect, it } from 'vitest';
import type { RunId, Workflow } from '../../../journal/ids.js';
import type { Backend, Backends } from '../../../src/pipeline/stage/backend.js';
import { planPipeline } from '../../../src/session/pipeline/plan-pipeline.js';
import type { PipelineRunOptions } from '../../../src/session/pipeline/run-pipeline-options.js';
import { pipeline, workshop, type PipelineRun, type Workshop } from '../../support/pipeline-run.js';

/** `test -f FILE` fails until the test has written it. */
const TEXT = pipeline(
  `first [shape=parallelogram, tool_command="test ! -f early"]; a [prompt="A"]; t [shape=parallelogram, tool_command="test -f mended"]; b [prompt="B"]
   start -> first -> a -> t -> b -> exit`,
);

let place: Workshop;
const asked: string[] = [];
afterEach(() => {
  place.remove();
  asked.length = 0;
});

const execute: Backend['execute'] = async ({ node }, _frame, { text }) => {
  asked.push(`${node.id}${text.includes('[Simulated]') ? ' after a simulated reply' : ''}`);
  return { reply: `${node.id} says` };
};
const backends: Backends = new Map([['own', () => ({ name: 'own:', execute })]]);
const real: Partial<PipelineRunOptions> = { backend: 'own:', backends };

const lastRun = async (workflow = 'p.dot'): Promise<RunId> => (await place.store.runs(workflow as Workflow)).at(-1)?.ref.run as RunId;
const runsOf = async (): Promise<readonly RunId[]> => (await place.store.runs('p.dot' as Workflow)).map(({ ref }) => ref.run);
const passesOver = ({ stderr }: PipelineRun): string | undefined => /^--resume passes over .*$/m.exec(stderr)?.[0];

describe('a trial behind a run that asked models', () => {
  it('is passed over, with a line that names both, and the plan says the same', async () => {
    place = workshop(TEXT);
    await place.run(real);
    await place.run();
    const [paid, trial] = await runsOf();
    place.write('mended', '');
    const plan = await planPipeline({ ...place.options(), ...real, resume: '' });
    const line = `--resume passes over run ${trial}, whose model stages were simulated, for run ${paid}`;
    expect(plan).toMatchObject({ resume: { run: paid, place: 'at' }, notices: [line] });
    const resumed = await place.run({ ...real, resume: '' });
    expect(passesOver(resumed)).toBe(line);
    expect(resumed.report.status).toBe('completed');
    expect(asked).toEqual(['a', 'b']);
  });

  it('is passed over for --resume NODE, and where it is completed', async () => {
    place = workshop(TEXT);
    await place.run(real);
    place.write('mended', '');
    await place.run();
    expect((await place.run({ ...real, resume: 't' })).report.status).toBe('completed');
    expect(asked).toEqual(['a', 'b']);
    await place.run();
    const [, , completed] = await runsOf();
    const over = await place.run({ ...real, resume: '' });
    expect(over.report.notice).toBe(`run ${completed} is completed: there is nothing to resume`);
    expect(passesOver(over)).toContain(await lastRun());
  });

  it('is passed over where it continued that run', async () => {
    place = workshop(TEXT);
    await place.run(real);
    place.write('mended', '');
    expect((await place.run({ resume: '' })).report.status).toBe('completed');
    expect((await place.run({ ...real, resume: '' })).report.status).toBe('completed');
    expect(asked).toEqual(['a', 'b']);
  });

  it('is passed over where it had reached no model stage', async () => {
    place = workshop(TEXT);
    await place.run(real);
    place.write('early', '');
    await place.run();
    place.write('mended', '');
    expect((await place.run({ ...real, resume: '' })).report.status).toBe('completed');
    expect(asked).toEqual(['a', 'b']);
  });

  it('is passed over where the graph names the backend, and the trial was one by --backend simulated', async () => {
    place = workshop(TEXT.replace('digraph g {', 'digraph g { graph [backend="own:"];'));
    await place.run({ backends });
    await place.run({ backends, backend: 'simulated' });
    place.write('mended', '');
    expect((await place.run({ backends, resume: '' })).report.status).toBe('completed');
    expect(asked).toEqual(['a', 'b']);
  });

  it('is continued by a trial', async () => {
    place = workshop(TEXT);
    await place.run(real);
    await place.run();
    const trial = await lastRun();
    place.write('mended', '');
    const resumed = await place.run({ resume: '' });
    expect(passesOver(resumed)).toBeUndefined();
    expect(resumed.checkpoint.run_id).toBe(trial);
  });
});

describe('where there are trials only', () => {
  it('a resume that asks models begins anew, with the inputs of the graph, and so does its plan', async () => {
    place = workshop(TEXT.replace('digraph g {', 'digraph g { graph [input.berth=4];'));
    await place.run({ set: { berth: '5' } });
    await place.run();
    const trial = await lastRun();
    const line = `--resume passes over run ${trial} and 1 before it, whose model stages were simulated; there is no other run, so this one begins anew`;
    const plan = await planPipeline({ ...place.options(), ...real, resume: '' });
    expect(plan).toMatchObject({ begins: 'anew', resume: null, notices: [line] });
    place.write('mended', '');
    const begun = await place.run({ ...real, resume: '' });
    expect(passesOver(begun)).toBe(line);
    expect(begun.checkpoint.context).toMatchObject({ berth: '4' });
    expect(asked).toEqual(['a', 'b']);
    expect((await place.run({ ...real, resume: '' })).report.notice).toBe(
      `run ${await lastRun()} is completed: there is nothing to resume`,
    );
  });

  it('one at a node is refused', async () => {
    place = workshop(TEXT);
    await place.run();
    const { error } = (await place.run({ ...real, resume: 'a' })).report;
    expect(error).toMatchObject({
      code: 'RESUME_NOTHING',
      message: `--resume: there is nothing to continue but run ${await lastRun()}, whose model stages were simulated`,
      hint: 'start a run without --resume; to continue the trial: mlld run p.dot --resume --backend simulated',
    });
    expect(asked).toEqual([]);
  });
});

it('a stage that its graph simulates is no reason to pass over a run', async () => {
  place = workshop(
    TEXT.replace('a [prompt="A"]', 'a [prompt="A", backend="simulated"]').replace('b [prompt="B"]', 'b [prompt="B", backend="own:"]'),
  );
  await place.run({ backends });
  place.write('mended', '');
  const resumed = await place.run({ backends, resume: '' });
  expect([passesOver(resumed), resumed.report.status]).toEqual([undefined, 'completed']);
  expect(asked).toEqual(['b after a simulated reply']);
});

it('a run is passed over whose manager started a trial', async () => {
  place = workshop(
    pipeline('boss [shape=house, "manager.poll_interval"="10ms"]; start -> boss -> exit', '"stack.child_dotfile"="child.dot"'),
  );
  place.write('child.dot', TEXT);
  await place.run(real);
  const paid = await lastRun();
  await place.run();
  place.write('mended', '');
  const resumed = await place.run({ ...real, resume: '' });
  expect(passesOver(resumed)).toMatch(new RegExp(`for run ${paid}$`));
  expect(resumed.report.status).toBe('completed');
  expect(asked).toEqual(['a', 'b']);
});

it('a run that was named is refused, and no other one continued in its place', async () => {
  place = workshop(TEXT);
  await place.run(real);
  await place.run();
  const trial = await lastRun();
  const { error } = (await place.run({ ...real, resume: '', resumable: new Set([trial]) })).report;
  expect(error).toMatchObject({ code: 'RESUME_NOTHING', message: expect.stringContaining(trial) as string });
});

it('costs nothing, and no budget holds or stops it', async () => {
  place = workshop(pipeline('a [prompt="A"]; b [prompt="B"]; start -> a -> b -> exit'));
  const { report } = await place.run({ backend: 'simulated', calls: { budget: { usd: 0.000001, tokens: 1 }, budgetStrict: true } });
  expect(report).toMatchObject({ status: 'completed', calls: { executed: 2, costUsd: 0, unpriced: 0 } });
});
