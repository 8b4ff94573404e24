/** Agents that are claude, codex, gemini and opencode, played by stand-ins that check their words. workflows-js.md 9 and 10. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { endingProgram } from '../support/programs/ending-program.js';
import { runScript, type ScriptRun } from './run-script.js';

const STUBS = join(import.meta.dirname, '..', 'conformance', 'stubs');
const SCHEMA = "{ type: 'object', required: ['mark'], properties: { mark: { type: 'number' } } }";

interface Call {
  readonly args: readonly string[];
  readonly prompt: string;
  readonly model: string;
}

/** A rule of the plan of a stand-in. */
const rule = (when: string, what: object, times?: number): object => ({
  when,
  ...(times !== undefined && { times }),
  // oxlint-disable-next-line no-thenable -- the stand-ins call it so, and rules are never awaited
  then: what,
});

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'mlld-workflow-'));
  mkdirSync(join(root, '.claude', 'agents'), { recursive: true });
  writeFileSync(join(root, '.claude', 'agents', 'diver.md'), 'You look below the water line.\n');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function run(
  program: string,
  body: string,
  { plan = {}, resume, model }: { readonly plan?: object; readonly resume?: string; readonly model?: string } = {},
): Promise<ScriptRun & { readonly calls: readonly Call[] }> {
  writeFileSync(join(root, 'job.js'), `export const meta = { name: 'job', description: 'x' }\n${body}\n`);
  const ledger = join(root, 'ledger.ndjson');
  rmSync(ledger, { force: true });
  const made = await runScript(root, {
    backend: program,
    ...(model !== undefined && { model }),
    ...(resume !== undefined && { cache: { resume } }),
    agent: { retryMs: 5 },
    environment: { PATH: `${STUBS}:${process.env['PATH']}`, STUB_PLAN: JSON.stringify(plan), STUB_LEDGER: ledger, HOME: root },
  });
  let lines: readonly string[] = [];
  try {
    lines = readFileSync(ledger, 'utf8').trimEnd().split('\n');
  } catch {
    // nothing was asked
  }
  const calls = lines.map((line) => JSON.parse(line) as Call & { readonly event: string }).filter(({ event }) => event === 'start');
  return { ...made, calls };
}

const PROGRAMS = [
  {
    program: 'claude',
    model: 'claude-haiku-4-5',
    words: [
      '-p',
      '--output-format',
      'json',
      '--model',
      'claude-haiku-4-5',
      '--effort',
      'high',
      '--no-session-persistence',
      '--agent',
      'diver',
    ],
    lead: '',
    schemaOption: '--json-schema',
  },
  {
    program: 'codex',
    model: 'gpt-5',
    words: ['exec', '--json', '-m', 'gpt-5', '-c', 'model_reasoning_effort=high', '--ephemeral', '-'],
    lead: 'You look below the water line.',
    schemaOption: '--output-schema',
  },
  {
    program: 'gemini',
    model: 'gemini-2.5-pro',
    words: ['-o', 'json', '-m', 'gemini-2.5-pro'],
    lead: 'You look below the water line.\n\n(Effort of thought: high.)',
    schemaOption: undefined,
  },
  {
    program: 'opencode',
    model: 'anthropic/claude-sonnet-4-5',
    words: ['run', '--format', 'json', '-m', 'anthropic/claude-sonnet-4-5', '--variant', 'high', '--agent', 'diver'],
    lead: '',
    schemaOption: undefined,
  },
] as const;

describe.each(PROGRAMS)('$program', ({ program, model, words, lead, schemaOption }) => {
  it('gets model, effort, type and prompt as its own words, and its usage is recorded', async () => {
    const body = `return [await agent('look below', { model: '${model}', effort: 'high', agentType: 'diver' }), budget.spent()]`;
    const { calls, result, report, stderr } = await run(program, body, { plan: { default: { text: 'all dry', out: 40 } } });
    expect(JSON.parse(result)).toEqual(['all dry', 40]);
    expect(stderr).not.toContain('warning');
    expect(calls.map(({ prompt }) => prompt)).toEqual([lead === '' ? 'look below' : `${lead}\n\nlook below`]);
    const args = calls[0]?.args ?? [];
    expect(words.filter((word) => !args.includes(word))).toEqual([]);
    expect(args).not.toContain('look below');
    expect(report.calls?.executed).toBe(1);
    const again = await run(program, body, { resume: '' });
    expect({ calls: again.calls, result: JSON.parse(again.result) as unknown }).toEqual({ calls: [], result: ['all dry', 40] });
  });

  it('gives the object of a schema, and is asked again for what does not fit', async () => {
    const match = [
      rule('refused', { text: '```json\n{"mark": 7}\n```' }),
      rule('grade', { text: '{"mark": "seven"}' }),
      rule('chat', { text: 'no object at all' }),
    ];
    const structured = { text: program === 'claude' ? 'see the object' : '{"mark": 9}', json: { mark: 9 } };
    const body = `return [await agent('grade', { schema: ${SCHEMA} }), await agent('chat', { schema: ${SCHEMA} }),
      await agent('object', { schema: ${SCHEMA} })]`;
    const { calls, result } = await run(program, body, { plan: { match: [...match, rule('object', structured)] } });
    expect(JSON.parse(result)).toEqual([{ mark: 7 }, { mark: 7 }, { mark: 9 }]);
    expect(calls.map(({ prompt }) => prompt.includes('Your last reply was refused: '))).toEqual([false, true, false, true, false]);
    expect(calls.map(({ args }) => schemaOption !== undefined && args.includes(schemaOption))).toEqual(
      calls.map(() => schemaOption !== undefined),
    );
    expect(calls.map(({ prompt }) => prompt.includes('fits this JSON Schema'))).toEqual(calls.map(() => schemaOption === undefined));
  });

  it('is asked again at its limits only, and every failure is null', async () => {
    const match = [
      rule('busy', { do: 'rate-limit' }, 2),
      rule('crowded', { do: 'overloaded' }, 1),
      rule('always', { do: 'rate-limit' }),
      rule('crash', { do: 'crash' }),
      rule('silent', { do: 'empty' }),
      rule('broken', { do: 'bad-json' }),
      rule('slow', { do: 'hang' }),
    ];
    const asked = `['busy'], ['crowded'], ['always', { retries: 1 }], ['crash'], ['silent'], ['broken'], ['slow', { timeoutMs: 400 }]`;
    const body = `const all = []\nfor (const one of [${asked}]) all.push(await agent(...one))\nreturn all`;
    const { calls, result, report } = await run(program, body, { plan: { match, default: { text: 'fine' } } });
    expect(JSON.parse(result)).toEqual(['fine', 'fine', null, null, null, null, null]);
    const count = (prompt: string): number => calls.filter((call) => call.prompt === prompt).length;
    expect(['busy', 'crowded', 'always', 'crash', 'silent', 'broken'].map(count)).toEqual([3, 2, 2, 1, 1, 1]);
    expect(report.agents?.failed.map(({ name }) => name)).toEqual(['always', 'crash', 'silent', 'broken', 'slow']);
    expect(report.status).toBe('completed');
  });

  it.each(['quota', 'auth'])('ends the run as paused on trouble with %s, and the next run asks only what is missing', async (trouble) => {
    const body = "await agent('first')\nconst second = await agent('second')\nreturn [second, await agent('third')]";
    const plan = { match: [rule('second', { do: trouble })], default: { text: 'fine' } };
    const stopped = await run(program, body, { plan });
    expect(stopped.report.status).toBe('paused');
    expect(stopped.result).toBe('');
    expect(stopped.calls.map(({ prompt }) => prompt)).toEqual(['first', 'second']);
    const resumed = await run(program, body, { plan: { default: { text: 'fine' } }, resume: '' });
    expect(JSON.parse(resumed.result)).toEqual(['fine', 'fine']);
    expect(resumed.calls.map(({ prompt }) => prompt)).toEqual(['second', 'third']);
  });
});

it.each([
  ['keeps the reply that its program has while the run is being ended', 'sleep 0.2; touch go', 'asked\n'],
  ['is interrupted where its program does not end well then', 'exit 3', 'asked\nasked\n'],
  ['is interrupted where its program tells of a failure then', 'say true; exit 0', 'asked\nasked\n'],
])('an agent %s', { timeout: 60_000 }, async (_, ending, asked) => {
  writeFileSync(join(root, 'job.js'), "export const meta = { name: 'job', description: 'x' }\nreturn agent('one')\n");
  mkdirSync(join(root, 'bin'));
  writeFileSync(join(root, 'bin', 'claude'), endingProgram(ending), { mode: 0o755 });
  const settings = { backend: 'claude', environment: { PATH: `${join(root, 'bin')}:${process.env['PATH']}`, HOME: root } };
  const stopping = new AbortController();
  const running = runScript(root, { ...settings, signal: stopping.signal });
  await expect.poll(() => existsSync(join(root, 'asked')), { timeout: 20_000 }).toBe(true);
  stopping.abort('SIGINT');
  const { report } = await running;
  expect(report).toMatchObject({
    status: 'interrupted',
    calls: asked === 'asked\n' ? { executed: 1, failed: 0 } : { executed: 0, failedByClass: { interrupted: 1 } },
  });
  writeFileSync(join(root, 'go'), '');
  expect(await runScript(root, { ...settings, cache: { resume: '' } })).toMatchObject({ result: 'late\n' });
  expect(readFileSync(join(root, 'asked'), 'utf8')).toBe(asked);
});
