/** Child pipelines spend the budget of the run whose managers started them. calls.md 13.1. */
import { chmodSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import type { Backend } from '../../../src/pipeline/stage/backend.js';
import type { PipelineRunOptions } from '../../../src/session/pipeline/run-pipeline-options.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';
import { pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

const BOSS = '"stack.child_dotfile"="child.dot"';
const CHILD = pipeline('one [prompt="one"]; two [prompt="two"]; start -> one -> two -> exit');

let place: Workshop | undefined;
afterEach(() => place?.remove());

function withChild(body: string): Workshop {
  place = workshop(pipeline(body, BOSS));
  place.write('child.dot', CHILD);
  return place;
}

function counted(): { readonly executed: string[]; readonly options: Partial<PipelineRunOptions> } {
  const executed: string[] = [];
  const execute: Backend['execute'] = async ({ node }) => {
    executed.push(node.id);
    return { reply: node.id };
  };
  return { executed, options: { backend: 'own:', backends: new Map([['own', () => ({ name: 'own:', execute })]]) } };
}

it('pauses in a child when parent and child together have made as many calls as the budget allows', async () => {
  const shop = withChild('a [prompt="a"]; boss [shape=house]; b [prompt="b"]; start -> a -> boss -> b -> exit');
  const { executed, options } = counted();
  const { report } = await shop.run({ ...options, calls: { budget: { calls: 2 } } });
  expect(report).toMatchObject({ status: 'paused', pause: { class: 'budget' }, calls: { executed: 1 }, childCalls: { executed: 1 } });
  expect((await shop.run({ ...options, calls: { budget: { calls: 1 } }, resume: '' })).report.status).toBe('paused');
  expect(executed).toEqual(['a', 'one', 'two']);
  expect((await shop.run({ ...options, calls: { budget: { calls: 1 } }, resume: '' })).report.status).toBe('completed');
  expect(executed).toEqual(['a', 'one', 'two', 'b']);
});

const CLAUDE = `#!/bin/sh
cat > /dev/null
echo "$MLLD_NODE_ID" >> executed.txt
sleep 0.1
echo '{"type":"result","subtype":"success","is_error":false,"result":"ok","total_cost_usd":1,"session_id":"s"}'
`;

it.each([
  [{ usd: 3 }, 'paused', 3],
  [{ calls: 3 }, 'paused', 3],
  [{ usd: 4 }, 'completed', 4],
])('lets children that run at a time spend no more together, and wait for one another: %o', async (budget, status, executed) => {
  const shop = withChild(
    `fan [shape=component]; left [shape=house]; right [shape=house]; join [shape=tripleoctagon]
     start -> fan; fan -> left -> join; fan -> right -> join; join -> exit`,
  );
  shop.write('claude', CLAUDE);
  chmodSync(`${shop.folder}/claude`, 0o755);
  const environment = { PATH: `${shop.folder}:${process.env['PATH'] ?? ''}` };
  const { report } = await shop.run({ backend: 'claude', environment, calls: { budget } });
  expect(report).toMatchObject({ status, childCalls: { executed } });
  expect(shop.read('executed.txt').trim().split('\n')).toHaveLength(executed);
});

it('is paused while a child waits for a person', async () => {
  const shop = withChild(
    `fan [shape=component]; a [prompt="a"]; b [prompt="b"]; boss [shape=house]; join [shape=tripleoctagon]
     start -> fan; fan -> a -> b -> join; fan -> boss -> join; join -> exit`,
  );
  shop.write('child.dot', pipeline('ask [shape=hexagon, label="Go?"]; start -> ask -> exit'));
  const { options } = counted();
  const { report } = await shop.run({ ...options, people: 'remote', calls: { budget: { calls: 1 } }, signal: AbortSignal.timeout(4_000) });
  expect(report).toMatchObject({ status: 'paused', pause: { class: 'budget' } });
});

it('says at the end of the command what the calls of its children came to', async () => {
  const cwd = await projectFolder({
    'p.dot': pipeline('a [prompt="a"]; boss [shape=house]; start -> a -> boss -> exit', BOSS),
    'child.dot': CHILD,
  });
  const { stderr, status } = await callCli(['run', 'p.dot', '--backend', 'cmd:cat', '--budget', '3calls'], { cwd });
  expect(stderr).toMatch(/in child pipelines: 2 calls: 2 executed, cost unknown\n1 call: 1 executed, cost unknown, \S+\n$/);
  expect(status).toBe(0);
});
