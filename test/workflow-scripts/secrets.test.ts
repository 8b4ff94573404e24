/** Prompts with a secret in them: SAMPLED-2, SAMPLE-1 to SAMPLE-3. workflows-js.md 6.1 and 14. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { sha256 } from '../../journal/canonical.js';
import type { CallKey, OpPath } from '../../journal/ids.js';
import { memo, type MemoEntry } from '../../replay/memo/memo.js';
import { agentCalls } from '../../replay/workflows/agent-calls.js';
import { Samples } from '../../replay/workflows/samples.js';
import { callKey } from '../../src/runtime/calls/call-key.js';
import { runScript } from './run-script.js';

const SECRET = 'abcdefghijklmnopqrstuvwxyz';
const BACKEND = `exe secret @token() = js { return '${SECRET.slice(0, 13)}' + '${SECRET.slice(13)}' }
exe llm @ask(prompt, options) = when [
  @prompt == "token" => @token()
  * => js { return "done" }
]
export { @ask }
`;
const script = (calls: string): string => `export const meta = { name: 'job', description: 'x' }
const token = await agent('token')
return await parallel([${calls}])
`;
const first = "() => agent('look ' + token), () => agent('vote ' + token), () => agent('vote ' + token)";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'mlld-workflow-'));
  writeFileSync(join(root, 'ask.mld'), BACKEND);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function run(text: string, resume?: string): Promise<{ readonly executed: number; readonly reused: number }> {
  writeFileSync(join(root, 'job.js'), text);
  const { report } = await runScript(root, { backend: 'exe:ask.mld#ask', ...(resume !== undefined && { cache: { resume } }) });
  expect(report.error).toBeUndefined();
  const { calls, failed } = report.agents ?? { calls: 0 };
  expect(failed).toEqual([]);
  return { executed: calls - (report.calls?.reused ?? 0), reused: report.calls?.reused ?? 0 };
}

function journal(): string {
  const folder = join(root, '.mlld', 'journal', 'job.js', 'runs');
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');
}

it('says of a question with a secret in it no digest that words could be tried against', async () => {
  expect(await run(script(first))).toEqual({ executed: 4, reused: 0 });
  expect(journal()).not.toContain(SECRET);
  expect(journal()).toContain('/agent~secret#0');
  for (const prompt of ['look', 'vote']) {
    for (const attempt of [undefined, 2]) {
      const key: string = callKey({ fn: 'agent', args: [`${prompt} ${SECRET}`, {}], ...(attempt && { attempt }) });
      expect(journal()).not.toContain(key.slice(key.indexOf(':') + 1).slice(0, 8));
    }
  }
});

it.each([
  ['as they were', first, 0],
  ['in another order', "() => agent('vote ' + token), () => agent('look ' + token), () => agent('vote ' + token)", 0],
  [
    'one of them elsewhere',
    "() => pipeline([1], () => agent('look ' + token)), () => agent('vote ' + token), () => agent('vote ' + token)",
    0,
  ],
  ['one more', `() => agent('vote ' + token), ${first}`, 1],
  ['another question', `() => agent('more ' + token), ${first}`, 1],
])('reuses results of questions with a secret in them: %s', async (_name, calls, executed) => {
  await run(script(first));
  const count = calls.split('agent(').length;
  expect(await run(script(calls), '')).toEqual({ executed, reused: count - executed });
  expect(await run(script(calls), '')).toEqual({ executed: 0, reused: count });
});

it('finds a sample that was recorded when nobody knew of the secret, and the other way round', () => {
  const [plain, keyed] = [(number: number) => `plain${number}` as CallKey, (number: number) => `keyed${number}` as CallKey];
  for (const [recorded, question] of [
    [plain, '0123abcd'],
    [keyed, 'secret'],
  ] as const) {
    const calls = agentCalls.initial();
    const own = memo.initial();
    calls.byDigits.set(question, new Map([[recorded(1), new Set(['main' as OpPath])]]));
    own.entries.set(recorded(1), { result: { ref: { run: 'r1' }, seq: 1 } } as unknown as MemoEntry);
    const samples = new Samples({ calls, own, forks: [] });
    const isPlain = recorded === plain;
    const take = (path: string): unknown =>
      samples.take({
        op: `${path}/agent~${isPlain ? 'secret' : '0123abcd'}#0` as OpPath,
        digits: '0123abcd',
        keysOf: (number) => (isPlain ? [keyed(number), plain(number)] : [plain(number), keyed(number)]),
      });
    expect(take('main/x')).toEqual({ number: 1, key: recorded(1), isRecorded: true });
    expect(take('main/y')).toEqual({ number: 2, key: (isPlain ? keyed : plain)(2), isRecorded: false });
  }
});

it('records the text of a script that names a variable secret', async () => {
  const text = "export const meta = { name: 'job', description: 'x' }\nvar secret = 'harbour'\nreturn secret\n";
  await run(text);
  expect(journal()).toContain(sha256(text));
});
