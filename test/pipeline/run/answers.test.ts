/** Model stages are executed, or reuse replies of the journal. */
import { afterEach, expect, it } from 'vitest';
import { pipeline, workshop, type PipelineRun, type Workshop } from '../../support/pipeline-run.js';

const TEXT = pipeline(
  'a [prompt="one"]; b [prompt="two"]; start -> a -> b -> exit',
  'backend="cmd:echo $MLLD_NODE_ID >> asked.txt; echo reply"',
);

let place: Workshop | undefined;
afterEach(() => place?.remove());

const asked = ({ events }: PipelineRun): number => events.filter(({ type }) => type === 'call.started').length;
const reused = ({ events }: PipelineRun): number => events.filter(({ type }) => type === 'call.reused').length;

it('calls the model in every run, unless --checkpoint says otherwise', async () => {
  place = workshop(TEXT);
  expect(asked(await place.run())).toBe(2);
  expect(asked(await place.run())).toBe(2);
  const served = await place.run({ checkpoint: true });
  expect([asked(served), reused(served)]).toEqual([0, 2]);
});

it('reuses what a run of its own recorded that is named by --fork', async () => {
  place = workshop(TEXT);
  const { report } = await place.run();
  const served = await place.run({ forks: [report.journal?.run ?? ''] });
  expect([asked(served), reused(served)]).toEqual([0, 2]);
});

it('reuses the replies of the run that --fork names, and not those of later runs', async () => {
  place = workshop(pipeline('a [prompt="one"]; start -> a -> exit', 'backend="cmd:cat reply.txt"'));
  place.write('reply.txt', 'first');
  const { report } = await place.run();
  place.write('reply.txt', 'second');
  await place.run();
  const run = report.journal?.run ?? '';
  for (const forks of [[run], [`p.dot@${run}`]]) expect((await place.run({ forks })).checkpoint.context['last_response']).toBe('first');
  expect((await place.run({ checkpoint: true })).checkpoint.context['last_response']).toBe('second');
  expect((await place.run({ forks: ['p.dot'] })).report).toMatchObject({
    error: { code: 'FORK_SELF', hint: expect.stringMatching(/@RUN/) },
  });
});

it('warns of a fork source that is a pipeline of another name, except in its children', async () => {
  place = workshop(TEXT);
  await place.run();
  place.write('child.dot', TEXT.replace('digraph g', 'digraph child'));
  place.write(
    'h.dot',
    pipeline('boss [shape=house]; start -> boss -> exit', '"stack.child_dotfile"="child.dot"').replace('digraph g', 'digraph h'),
  );
  const { stderr } = await place.run({ file: `${place.folder}/h.dot`, name: 'h.dot', forks: ['p.dot'] });
  expect(stderr.match(/warning: --fork.*/g)).toEqual([expect.stringContaining('a pipeline called h, so none is reused')]);
});

it('refuses to fork from a run that there is not', async () => {
  place = workshop(TEXT);
  const { report } = await place.run({ forks: ['20200101-000000-000-aaaa'] });
  expect(report).toMatchObject({ status: 'failed', error: { code: 'FORK_UNKNOWN' } });
});

it('calls the model again from a node on, and only there', async () => {
  place = workshop(TEXT);
  await place.run({ checkpoint: true });
  const again = await place.run({ checkpoint: true, resume: 'b' });
  expect(asked(again)).toBe(1);
  expect(again.checkpoint.node_history.map(({ node_id: id }) => id)).toEqual(['start', 'a', 'b', 'exit']);
});

it('calls the model again from a node on whose reply the run before had reused', async () => {
  place = workshop(TEXT);
  await place.run();
  await place.run({ checkpoint: true });
  expect(asked(await place.run({ checkpoint: true, resume: 'b' }))).toBe(1);
  const copy = { file: `${place.folder}/copy.dot`, name: 'copy.dot', forks: ['p.dot'] };
  place.write('copy.dot', TEXT);
  expect(reused(await place.run(copy))).toBe(2);
  expect(asked(await place.run({ ...copy, resume: 'b' }))).toBe(1);
  expect(reused(await place.run(copy))).toBe(2);
});

it('names the nodes at which it can be resumed', async () => {
  place = workshop(TEXT);
  await place.run();
  const { report } = await place.run({ resume: 'zz' });
  expect(report).toMatchObject({ status: 'failed', error: { code: 'RESUME_NODE', hint: 'nodes that can be named: start, a, b, exit' } });
  const near = await place.run({ resume: 'exti' });
  expect(near.report).toMatchObject({ error: { hint: 'did you mean exit? nodes that can be named: start, a, b, exit' } });
});

it('keeps a durable reply for the attempt that got it, whatever the resumed stage would send', async () => {
  const text = pipeline('a [prompt="one", fidelity=truncate]; start -> a -> exit', 'backend="cmd:echo x >> asked.txt; echo reply"');
  place = workshop(text);
  const ending = new AbortController();
  const first = await place.run({ signal: ending.signal, onEvent: ({ type }) => void (type === 'call.completed' && ending.abort()) });
  expect(first.report.status).toBe('interrupted');
  const { report } = await place.run({ resume: '' });
  expect(report.status).toBe('completed');
  expect(place.read('asked.txt')).toBe('x\n');
});
