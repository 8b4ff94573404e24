/** Compares what reports say that calls cost with what their providers charged, failed attempts included. calls.md 7.5 and 10. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';

import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const STUBS = fileURLToPath(new URL('../../conformance/stubs', import.meta.url));
const SETTINGS = {
  calls: { backoff: { first: '2ms', max: '10ms' } },
  prices: { 'stub-1': { input: 3, cachedInput: 0.3, cacheWrite: 3.75, output: 15 } },
};

let provider: ChildProcess | undefined;
afterEach(() => void provider?.kill('SIGTERM'));

interface Figures {
  readonly costUsd: number;
  readonly unpriced: number;
  readonly attempts: number;
  readonly inputTokens: number;
}

async function reported(cwd: string): Promise<{ run: Figures; functions: ReadonlyMap<string, Figures> }> {
  const [list, stats] = await Promise.all(
    [['list'], ['stats', 'job.mld']].map(
      async (words) => JSON.parse((await callCli(['journal', ...words, '--json'], { cwd })).stdout) as unknown,
    ),
  );
  const { functions } = stats as { functions: readonly (Figures & { fn: string })[] };
  return { run: (list as readonly Figures[])[0] as Figures, functions: new Map(functions.map((each) => [each.fn, each])) };
}

const PROGRAMS: { readonly [fn: string]: string } = {
  claudeJson: 'claude -p --output-format json "@q" } with { reply: "claude"',
  claudeStream: 'claude -p --output-format stream-json --verbose "@q" } with { reply: "claude"',
  codex: 'codex exec --json -m gpt-5 "@q" } with { reply: "codex"',
  gemini: 'gemini -m gemini-2.5-pro -p "@q" -o json } with { reply: "gemini"',
  geminiStream: 'gemini -m gemini-2.5-pro -p "@q" -o stream-json } with { reply: "gemini"',
  opencode: 'opencode run --format json -m anthropic/claude-sonnet-4-5 "@q" } with { reply: "opencode"',
};

it('programs: rejections, cut streams, repairs, replies that were cut, refusals', async () => {
  const kinds: readonly (readonly [item: string, times: number, behaviour: object])[] = [
    ['limited', 1, { do: 'rate-limit' }],
    ['mended', 1, { text: 'Sure! {' }],
    ['cut', 1, { do: 'partial' }],
    ['ended', 9, { do: 'truncated' }],
    ['unwanted', 9, { do: 'content' }],
  ];
  const rules = Object.keys(PROGRAMS).flatMap((fn) =>
    kinds.map(
      ([item, times, behaviour]) =>
        `{ "when": ${JSON.stringify(`${fn} ${item}`)}, "times": ${times}, "then": ${JSON.stringify(behaviour)} }`,
    ),
  );
  const script = Object.entries(PROGRAMS).flatMap(([fn, command]) => [
    `exe llm @${fn}(q) = cmd { ${command}, schema: { "type": "object" } }`,
    `var @of_${fn} = for parallel(4) @i in [${['plain', ...kinds.map(([item]) => item)].map((item) => `"${fn} ${item}"`).join(', ')}] => @${fn}(@i)`,
  ]);
  const cwd = await projectFolder({
    'job.mld': `${script.join('\n')}\nshow "end"\n`,
    'mlld-config.json': JSON.stringify(SETTINGS),
    'plan.json': `{ "default": { "text": "{\\"n\\":1}", "cached": 200, "written": 100, "reasoning": 20 }, "match": [${rules.join(', ')}] }`,
  });
  const env = {
    PATH: `${STUBS}:${process.env['PATH'] ?? ''}`,
    STUB_PLAN: path.join(cwd, 'plan.json'),
    STUB_LEDGER: path.join(cwd, 'ledger.ndjson'),
  };
  expect(await callCli(['job.mld', '--checkpoint'], { cwd, env })).toMatchObject({ stdout: 'end\n', status: 4 });

  const lines = (await fs.readFile(env.STUB_LEDGER, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as LedgerLine);
  const starts = new Map(lines.filter(({ event }) => event === 'start').map(({ n, prompt = '' }) => [n, prompt.split(' ')[0] ?? '']));
  const { run, functions } = await reported(cwd);
  let knownUsd = 0;
  for (const fn of Object.keys(PROGRAMS)) {
    const ends = lines.filter(({ event, n }) => event === 'end' && starts.get(n) === fn);
    const figures = functions.get(fn) as Figures;
    // A reply that was cut, and a refusal that is only words, may tell no usage: such an attempt is said to be unknown, and is no 0.
    const mute = ['partial', 'content'].flatMap((kind) => ends.filter(({ outcome }) => outcome === kind));
    const unknown = mute.slice(0, figures.unpriced);
    expect(figures.unpriced).toBe(unknown.length);
    const charged = sum(ends) - sum(unknown);
    expect(Math.abs(figures.costUsd - charged) / charged).toBeLessThan(0.001);
    expect(figures.attempts).toBe(ends.length);
    knownUsd += charged;
  }
  expect(Math.abs(run.costUsd - knownUsd) / knownUsd).toBeLessThan(0.001);
});

interface LedgerLine {
  readonly event: 'start' | 'end';
  readonly n: number;
  readonly prompt?: string;
  readonly outcome?: string;
  readonly chargedUsd?: number;
}

const sum = (lines: readonly LedgerLine[]): number => lines.reduce((usd, { chargedUsd = 0 }) => usd + chargedUsd, 0);

const INTERFACES: { readonly [fn: string]: readonly [path: string, adapter: string, body: string] } = {
  chat: ['/v1/chat/completions', 'openai', '{ model: "stub-1", messages: [{ role: "user", content: q }], response_format: {} }'],
  responses: ['/v1/responses', 'openai', '{ model: "stub-1", input: q, text: { format: {} } }'],
  messages: ['/v1/messages', 'anthropic', '{ model: "stub-1", messages: [{ role: "user", content: q }], response_format: {} }'],
};

it('HTTP interfaces: overload, connections that are cut after the charge, replies that are no JSON', async () => {
  const script = Object.entries(INTERFACES).flatMap(([fn, [url, adapter, body]]) => [
    `exe llm @${fn}(q) = node {
  const response = await fetch(process.env.PROVIDER_URL + "${url}", { method: "POST", body: JSON.stringify(${body}) });
  const text = await response.text();
  if (!response.ok) throw Object.assign(new Error(text), { status: response.status });
  return text;
} with { reply: "${adapter}", lane: "provider", schema: { "type": "object" }, retries: { "bad-reply": 5, "network": 9 } }`,
    `var @of_${fn} = for parallel(8) @i in @list => @${fn}(@i)`,
  ]);
  const items = 'exe @items() = js { return Array.from({ length: 30 }, (_, i) => "item " + i) }\nvar @list = @items()\n';
  const cwd = await projectFolder({
    'job.mld': `${items}${script.join('\n')}\nshow "end"\n`,
    'mlld-config.json': JSON.stringify(SETTINGS),
  });
  const config = {
    seed: 7,
    latencyMs: [2, 0.2],
    overload: 0.1,
    reset: 0.1,
    badShare: 0.1,
    tokens: { input: 1500, cached: 300, output: 120, reasoning: 40, spread: 0.5 },
  };
  const ready = path.join(cwd, 'ready');
  const ledger = path.join(cwd, 'provider.ndjson');
  const words = [path.join(STUBS, 'provider.mjs'), '--config', JSON.stringify(config), '--ready', ready, '--ledger', ledger];
  provider = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(provider.stdout as NodeJS.ReadableStream, 'data');
  const url = await fs.readFile(ready, 'utf8');
  expect(await callCli(['job.mld', '--checkpoint'], { cwd, env: { PROVIDER_URL: url } })).toMatchObject({ stdout: 'end\n', status: 0 });

  const lines = (await fs.readFile(ledger, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { kind?: string; usd?: number });
  const cut = lines.filter(({ kind }) => kind === 'cut');
  const told = lines.filter(({ kind }) => kind !== 'cut').reduce((usd, line) => usd + (line.usd ?? 0), 0);
  const { run } = await reported(cwd);
  expect(cut.length).toBeGreaterThan(0);
  expect(run).toMatchObject({ attempts: lines.length, unpriced: cut.length });
  expect(Math.abs(run.costUsd - told) / told).toBeLessThan(0.001);
});

it('counts no call as failed whose attempt would be followed by another one, had the budget not been reached meanwhile', async () => {
  const cwd = await projectFolder({
    'job.mld': `exe llm @ask(n) = node {
  if (n !== "b") return n;
  await new Promise((resolve) => setTimeout(resolve, 300));
  mlld.fail("rate-limit", "slow down");
}
for parallel(3) @n in ["a", "b", "c", "d"] => show @ask(@n)
`,
  });
  const { status, stderr } = await callCli(['job.mld', '--checkpoint', '--budget', '3calls'], { cwd });
  expect(status, stderr).toBe(5);
  expect(stderr).toMatch(/^2 calls: 2 executed, /m);
  const listed = await callCli(['journal', 'list', '--json'], { cwd });
  expect(JSON.parse(listed.stdout)).toMatchObject([{ status: 'paused', executed: 2, failed: 0, unresolved: 0, attempts: 3 }]);
});
