/** Keys of calls and sealed results of real runs, computed and opened by a reader that was written from `docs/journal-format.md` alone. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectFolder, runCli } from '../support/cli.js';
import { digestOf, keyIdOf, keyOfCall, keyOfSecretCall, opened, type Call, type Data } from './support/reader-from-text.js';

interface Event {
  readonly type: string;
  readonly key: string;
  readonly fn: string;
  readonly args: { readonly inline?: Data; readonly digest?: string };
  readonly result: { readonly sealed?: string; readonly blob?: string; readonly keyId?: string };
  readonly notes?: { readonly sealed?: string };
}

const journalOf = (cwd: string): string => path.join(cwd, '.mlld/journal');

async function eventsOf(cwd: string): Promise<readonly Event[]> {
  const folder = path.join(journalOf(cwd), 'job.mld/runs');
  const [name] = (await fs.readdir(folder)).filter((each) => each.endsWith('.ndjson'));
  const text = await fs.readFile(path.join(folder, name as string), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Event);
}

async function recorded(script: string, files: { readonly [name: string]: string } = {}, env: { readonly [name: string]: string } = {}) {
  const cwd = await projectFolder({ 'job.mld': script, ...files });
  const { status, stderr } = await runCli(['job.mld', '--checkpoint'], { cwd, env });
  expect({ status, stderr }).toMatchObject({ status: 0 });
  return { cwd, events: await eventsOf(cwd) };
}

/** Each line makes one call; beside it, the call as the text has it. */
const CALLS: readonly (readonly [line: string, call: Call])[] = [
  ['@f()', { fn: 'f', args: [] }],
  ['@f("ebb")', { fn: 'f', args: ['ebb'] }],
  ['@f("", null)', { fn: 'f', args: ['', null] }],
  ['@f(5, "5", true, [1, "x", [null]])', { fn: 'f', args: [5, '5', true, [1, 'x', [null]]] }],
  ['@f(0.1, 1000000, -2.50)', { fn: 'f', args: [0.1, 1000000, -2.5] }],
  ['@f(@numbers)', { fn: 'f', args: [[1e21, 1e-7, 123456789012345680000, 5e-324, -0]] }],
  ['@f({ b: 1, a: { d: [], c: {} }, "10": 1, "2": 2 })', { fn: 'f', args: [{ '10': 1, '2': 2, a: { c: {}, d: [] }, b: 1 }] }],
  ['@f(@odd)', { fn: 'f', args: ['"quotes" \\ \n\t\u0001\u007f é 🌊 \u2028 \ud800'] }],
  ['@f(@names)', { fn: 'f', args: [{ é: 1, z: 2, '🌊': 3, '\uffee': 4 }] }],
  ['@f(<tide.txt>)', { fn: 'f', args: ['high at 6\n'] }],
  ['@f(<pier.json>)', { fn: 'f', args: [{ open: true, berths: [1, 2] }] }],
  ['@f(@g)', { fn: 'f', args: ['<function g(x, y)>'] }],
  ['@wrapped("calm")', { fn: 'wrapped', args: ['calm'], via: { fn: 'f', args: ['calm', 'sonnet'] } }],
  ['@keyed("calm", "out.txt")', { fn: 'keyed', args: ['calm', 1] }],
];

const SCRIPT = `exe llm @f(a, b, c, d) = js { return "done" }
exe @g(x, y) = js { return x }
exe llm @wrapped(p) = @f(@p, "sonnet")
exe llm @keyed(p, out) = js { return p } with { key: [@p, 1] }
exe @numbersOf() = js { return [1e21, 1e-7, 123456789012345680000, 5e-324, -0] }
exe @oddOf() = js { return '"quotes" \\\\ \\n\\t\\u0001\\u007f é 🌊 \\u2028 \\ud800' }
exe @namesOf() = js { return { '🌊': 3, z: 2, 'é': 1, '\\uffee': 4 } }
var @numbers = @numbersOf()
var @odd = @oddOf()
var @names = @namesOf()
${CALLS.map(([line], number) => `var @r${number} = ${line}`).join('\n')}
`;

describe('a reader written from the text', () => {
  it('computes the keys of varied calls', async () => {
    const { events } = await recorded(SCRIPT, { 'tide.txt': 'high at 6\n', 'pier.json': '{ "open": true, "berths": [1, 2] }' });
    const started = events.filter(({ type }) => type === 'call.started');
    // `@wrapped` makes the call that it forwards, which is another one.
    const keys = new Set(started.map(({ key }) => key));
    for (const [line, call] of CALLS) expect({ line, isThere: keys.has(keyOfCall(call)) }).toEqual({ line, isThere: true });
    expect(keys.size).toBe(CALLS.length + 1);
  });

  it('computes the keys of retries and of commands under `var llm`', async () => {
    const { events } = await recorded(`exe llm @gen(q) = js { return q + Math.random() }
exe @check(v) = when [
  @mx.try < 3 => retry "again"
  * => @v
]
var @x = @gen("draft") | @check
var llm @line = sh { echo high }
`);
    const keys = events.filter(({ type }) => type === 'call.started').map(({ key }) => key);
    const draft = { fn: 'gen', args: ['draft'] };
    expect(keys).toEqual([
      keyOfCall(draft),
      keyOfCall({ ...draft, attempt: 2 }),
      keyOfCall({ ...draft, attempt: 3 }),
      keyOfCall({ fn: 'sh', args: [' echo high '] }),
    ]);
  });

  it('computes the keys of secret calls, and opens what they gave, in a line and in a blob', async () => {
    const root = Buffer.alloc(32, 7);
    const { cwd, events } = await recorded(
      `var secret @token = "token-of-the-harbour-master"
exe llm @ask(q, n) = js { return "A:" + q + "x".repeat(n) }
var @small = @ask(@token, 1)
var @large = @ask(@token, 100000)
`,
      {},
      { MLLD_JOURNAL_KEY: root.toString('hex') },
    );
    const asked = events.filter(({ type }) => type === 'call.started');
    const answers = events.filter(({ type }) => type === 'call.completed');
    expect(answers).toHaveLength(2);
    for (const [place, n] of [1, 100_000].entries()) {
      const [begun, ended] = [asked[place] as Event, answers[place] as Event];
      const args = ['token-of-the-harbour-master', n];
      const key = keyOfSecretCall(root, keyOfCall({ fn: 'ask', args }));
      expect([begun.key, ended.key]).toEqual([key, key]);
      expect(begun.args).toEqual({ digest: digestOf(root, args) });
      expect(ended.result.keyId).toBe(keyIdOf(root));
      const name = ended.result.blob?.slice('sha256:'.length) ?? '';
      const content =
        n === 1
          ? Buffer.from(ended.result.sealed ?? '', 'base64')
          : await fs.readFile(path.join(journalOf(cwd), 'blobs', name.slice(0, 2), name));
      expect(opened(root, content, ended.key)).toBe(`A:token-of-the-harbour-master${'x'.repeat(n)}`);
      expect(() => opened(root, content, begun.fn)).toThrow();
    }
  });
});
