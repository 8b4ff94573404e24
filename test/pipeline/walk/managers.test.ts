/** A manager node supervises a new run of its child each time, and after a crash the run that it had started. graph-pipelines.md 7.8. */
import { afterEach, expect, it } from 'vitest';
import type { OpPath, RunRef, Workflow } from '../../../journal/ids.js';
import type { Backend } from '../../../src/pipeline/stage/backend.js';
import { pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

const CHILD = pipeline(
  `w [shape=parallelogram, tool_command="echo w >> did.txt"]
   x [shape=parallelogram, tool_command="echo x >> did.txt; until test -e go; do sleep 0.02; done"]
   start -> w -> x -> exit`,
);
const BOSS = '"stack.child_dotfile"="child.dot"';

let place: Workshop | undefined;
afterEach(() => place?.remove());

function withChild(body: string, child = CHILD): Workshop {
  place = workshop(pipeline(body, BOSS));
  place.write('child.dot', child);
  return place;
}

const childrenOf = async ({ store }: Workshop): Promise<number> => (await store.runs('child.dot' as Workflow)).length;

it('begins anew with each visit, also when the child of the one before was ended', async () => {
  const shop = withChild(
    `boss [shape=house, "manager.poll_interval"="10ms", "manager.stop_condition"="context.stack.child.current_node=x"]
     again [shape=parallelogram, tool_command="test -e been || { touch been; exit 1; }"]
     start -> boss -> again; again -> boss [condition="outcome=fail"]; again -> exit`,
  );
  expect((await shop.run()).report.status).toBe('completed');
  expect(await childrenOf(shop)).toBe(2);
  expect(shop.read('did.txt').match(/w/g)).toHaveLength(2);
});

it('warns of no run of its child that another branch has started', async () => {
  const shop = withChild(
    `fan [shape=component]
     one [shape=house, "manager.poll_interval"="10ms"]
     late [shape=parallelogram, tool_command="until test -e did.txt; do sleep 0.02; done; (sleep 0.3; touch go) >/dev/null 2>&1 &"]
     two [shape=house, "manager.poll_interval"="10ms"]
     start -> fan; fan -> one -> join; fan -> late -> two -> join; join [shape=tripleoctagon]; join -> exit`,
  );
  const { report, stderr } = await shop.run();
  expect(report.status).toBe('completed');
  expect(await childrenOf(shop)).toBe(2);
  expect(stderr).not.toContain('is still running');
});

it('begins anew when its time was up and it tries again', async () => {
  const shop = withChild('boss [shape=house, timeout="300ms", max_retries=1, retry_delay="1ms"]; start -> boss -> exit');
  expect((await shop.run()).report.status).toBe('failed');
  expect(await childrenOf(shop)).toBe(2);
});

it('resumes the child that it had started, although the same pipeline was run by others since', async () => {
  const shop = withChild('boss [shape=house, "manager.poll_interval"="10ms"]; start -> boss -> exit');
  const ending = new AbortController();
  const begun = shop.begin({ signal: ending.signal });
  await expect.poll(() => shop.read('did.txt'), { timeout: 20_000 }).toBe('w\nx\n');
  ending.abort();
  expect((await begun).status).toBe('interrupted');
  shop.write('go', '');
  expect((await shop.begin({ file: `${shop.folder}/child.dot`, name: 'child.dot' })).status).toBe('completed');
  expect((await shop.run({ resume: '' })).report.status).toBe('completed');
  expect(shop.read('did.txt')).toBe('w\nx\nw\nx\nx\n');
});

it('takes the outcome and the label of its stop condition from the context', async () => {
  const shop = withChild(
    `pick [shape=hexagon]
     boss [shape=house, "manager.poll_interval"="10ms", "manager.stop_condition"="preferred_label=\\"[G] Go\\" && outcome=success"]
     start -> pick; pick -> boss [label="[G] Go"]; boss -> exit`,
  );
  const { report, checkpoint } = await shop.run();
  expect(report.status).toBe('completed');
  expect(checkpoint.node_history.map(({ node_id: id }) => id)).toEqual(['start', 'pick', 'boss', 'exit']);
});

it.each([
  ['digraph child {', 'line 1: dot_syntax'],
  ['digraph child { start [shape=Mdiamond]; exit [shape=Msquare]; a; start -> exit }', 'line 1: reachability'],
])('says why its child was refused: %s', async (child, why) => {
  const shop = withChild('boss [shape=house]; start -> boss -> exit', child);
  expect((await shop.run()).report).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining(`child.dot could not be started: ${why}`) },
  });
});

it('takes the end of its child where the process died before its own: nothing is executed again', async () => {
  const shop = withChild('boss [shape=house, "manager.poll_interval"="10ms"]; start -> boss -> exit');
  const ending = new AbortController();
  const begun = shop.begin({ signal: ending.signal });
  await expect.poll(() => shop.read('did.txt'), { timeout: 20_000 }).toBe('w\nx\n');
  ending.abort();
  const { journal } = await begun;
  shop.write('go', '');
  const parent = { run: (journal as RunRef).run, node: 'boss', op: 'main/boss#0/try#1' as OpPath, depth: 1, within: undefined };
  const ended = await shop.begin({ file: `${shop.folder}/child.dot`, name: 'child.dot', resume: '', parent });
  expect(ended.status).toBe('completed');
  expect((await shop.run({ resume: '' })).report.status).toBe('completed');
  expect(shop.read('did.txt')).toBe('w\nx\nx\n');
});

it('is paused with its child, which continues with the resumed run and pays for nothing again', async () => {
  const child = pipeline('a [prompt="one"]; b [prompt="two"]; start -> a -> b -> exit');
  const shop = withChild(
    'boss [shape=house, "manager.poll_interval"="10ms"]; after [prompt="three"]; start -> boss -> after -> exit',
    child,
  );
  const asked: string[] = [];
  let isUsedUp = true;
  const execute: Backend['execute'] = async ({ node }) => {
    asked.push(node.id);
    if (node.id === 'b' && isUsedUp) throw Object.assign(new Error('used up'), { status: 402 });
    return { reply: node.id };
  };
  const own = { backend: 'own:', backends: new Map([['own', () => ({ name: 'own:', execute })]]) };
  const { report } = await shop.run(own);
  expect(report).toMatchObject({ status: 'paused', pause: { class: 'quota' } });
  isUsedUp = false;
  expect((await shop.run({ ...own, resume: '' })).report.status).toBe('completed');
  expect(asked).toEqual(['a', 'b', 'b', 'after']);
  expect(await childrenOf(shop)).toBe(2);
});

it.each(['compact', 'summary:medium', 'summary:high'])(
  'lets later runs reuse the replies of stages behind it, told as %s',
  async (mode) => {
    const shop = withChild(
      `graph [default_fidelity="${mode}"]
     fan [shape=component]; left [shape=house]; right [shape=house]; pick [shape=tripleoctagon, prompt="Which?"]
     boss [shape=house]; after [prompt="three"]
     start -> fan; fan -> left -> pick; fan -> right -> pick; pick -> boss -> after -> exit`,
      pipeline('a [prompt="one"]; start -> a -> exit'),
    );
    const executed: string[] = [];
    const execute: Backend['execute'] = async ({ node }) => {
      executed.push(node.id);
      return { reply: node.id };
    };
    const own = { checkpoint: true, backend: 'own:', backends: new Map([['own', () => ({ name: 'own:', execute })]]) };
    expect((await shop.run(own)).report.status).toBe('completed');
    expect(executed.toSorted()).toEqual(['a', 'a', 'a', 'after', 'pick']);
    expect((await shop.run(own)).report.status).toBe('completed');
    expect(executed).toHaveLength(5);
  },
);
