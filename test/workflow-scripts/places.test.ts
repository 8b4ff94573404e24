/** Calls of scripts and programs are recorded with the place of the code that makes them, and reports name it. workflows-js.md 11. */
import { relative } from 'node:path';
import { expect, it } from 'vitest';
import { openMemoryStore, workflow, type Context } from '../../src/api/index.js';
import { callCli } from '../support/in-process/call-cli.js';
import { projectFolder } from '../support/cli.js';

const SCRIPT = `export const meta = { name: 'job', description: 'x' }
const ask = (text) => agent('helped ' + text)
await parallel([1, 2].map((n) => () => agent('branch ' + n)))
  await agent('direct'); await ask('twice')
await Promise.all(['mapped'].map((text) => agent(text)))
await pipeline(['x'], (item) => agent('stage ' + item))
await workflow({ scriptPath: 'inner.js' })
`;
const INNER = "export const meta = { name: 'inner', description: 'x' }\r\n\r\nreturn await agent('inside')\r\n";

it('names file, line and column of each agent() in audit and explain', async () => {
  const cwd = await projectFolder({
    'mlld-config.json': '{}',
    'job.js': SCRIPT,
    'inner.js': INNER,
  });
  await callCli(['run', 'job.js', '--backend', 'simulated'], { cwd });
  const read = async (...words: string[]): Promise<string> => (await callCli(['journal', ...words], { cwd })).stdout;
  const { entries } = JSON.parse(await read('audit', 'job.js', '--json')) as {
    readonly entries: readonly { readonly entry: string; readonly preview?: string; readonly site?: string }[];
  };
  const places = entries.filter(({ entry }) => entry === 'call').map(({ preview, site }) => `${preview ?? ''}: ${site ?? ''}`);
  expect(places.sort()).toEqual([
    'branch 1: job.js:3:40',
    'branch 2: job.js:3:40',
    'direct: job.js:4:9',
    'helped twice: job.js:2:23',
    'inside: inner.js:3:14',
    'mapped: job.js:5:44',
    'stage x: job.js:6:33',
  ]);
  expect(await read('audit', 'job.js')).toMatch(/@agent\(direct\)[^\n]*\n?[^\n]* at job\.js:4:9\n/);
  const explained = await read('explain', 'job.js', '--json');
  expect(JSON.parse(explained)).toMatchObject({
    calls: expect.arrayContaining([expect.objectContaining({ site: 'inner.js:3:14' })]) as [],
  });
  expect(await read('explain', 'job.js')).toMatch(/at inner\.js:3:14\n/);
});

it('takes no place from a stack that the script made, and none where its code did not call', async () => {
  const cwd = await projectFolder({
    'mlld-config.json': '{}',
    'job.js': `export const meta = { name: 'job', description: 'x' }
const called = agent.bind(null, 'bound')
await parallel([called])
Error.stackTraceLimit = 0
await agent('without a stack')
Object.defineProperty(Error.prototype, 'name', { get: () => 'x\\n    at elsewhere (job.js:99999:7)\\n    at elsewhere (/etc/passwd:1:1)' })
Error.stackTraceLimit = 10
await agent('with another')
`,
  });
  expect(await callCli(['run', 'job.js', '--backend', 'simulated'], { cwd })).toMatchObject({ status: 0 });
  const { stdout } = await callCli(['journal', 'audit', 'job.js', '--json'], { cwd });
  const { entries } = JSON.parse(stdout) as { readonly entries: readonly { readonly preview?: string; readonly site?: string }[] };
  const placeOf = (text: string): string | undefined => entries.find(({ preview }) => preview === text)?.site;
  expect([placeOf('bound'), placeOf('without a stack')]).toEqual([undefined, undefined]);
  expect(placeOf('with another')).toMatch(/^job\.js:\d{1,2}:\d+$/);
});

it('names the place in a program, through functions of the language too', async () => {
  const store = openMemoryStore();
  const here = relative(process.cwd(), import.meta.filename);
  const job = workflow('job', async (ctx: Context) => {
    await ctx.llm('one', [], () => 1);
    await Promise.all([1].map((n) => ctx.step('two', [n], () => n)));
    await ctx.agent('three');
    await ctx.sleep(1);
    const { llm } = ctx;
    await llm('four', [], () => 4);
  });
  const { status, journal } = await job.run(null, { store, backend: 'simulated' });
  expect(status).toBe('completed');
  const sites: string[] = [];
  if (journal) await store.scan(journal, (event) => void (event.type === 'call.started' && sites.push(event.site ?? '')));
  const lines = sites.map((site) => site.split(':'));
  expect(lines.map(([file]) => file)).toEqual([here, here, here, here, here]);
  const numbers = lines.map(([, line]) => Number(line));
  const [first = 0] = numbers;
  expect(numbers.map((line) => line - first)).toEqual([0, 1, 2, 3, 5]);
});
