/** A server that ends or dies in the middle of runs: the next one knows them all, from their journals. */
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { runCli } from '../support/cli.js';
import { pipeline } from '../support/pipeline-run.js';
import { serve as startServer, type Served, type ServeOptions } from '../support/served.js';
import { GATED, QUICK } from './pipelines.js';

const STEPS = pipeline(
  `${['a', 'b', 'c', 'd'].map((id) => `${id} [prompt="${id}"]`).join('; ')}; start -> a -> b -> c -> d -> exit`,
  'backend="cmd:sleep 0.2; echo $MLLD_NODE_ID >> asked.txt; echo reply"',
);

const begun: Served[] = [];
afterEach(async () => {
  await Promise.all(begun.splice(0).map((served) => served.end('SIGKILL')));
});

async function serve(options?: ServeOptions): Promise<Served> {
  const served = await startServer(options);
  begun.push(served);
  return served;
}

async function fileOf(served: Served, id: string): Promise<string> {
  for await (const { event } of served.events(id)) if (event.type === 'run.started') return event.workflow;
  throw new Error('the run has no beginning');
}

it('is killed: the next one lists all runs with their states, and they can be resumed', async () => {
  const first = await serve();
  const done = await first.send(QUICK);
  await first.until(`/pipelines/${done}`, ({ status }: { status: string }) => status === 'completed');
  const asking = await first.send(GATED);
  await first.until(`/pipelines/${asking}`, ({ status }: { status: string }) => status === 'waiting');
  const working = await first.send(STEPS);
  await first.until(`/pipelines/${working}`, ({ current_node: node }: { current_node: string }) => node === 'b');
  const seen = (await first.get('/pipelines')).body as { id: string }[];
  expect(await first.end('SIGKILL')).toBeUndefined();

  const second = await serve({ folder: first.folder });
  const now = (await second.get('/pipelines')).body as { id: string; status: string; finished_at: string | null }[];
  expect(now.map(({ id }) => id)).toEqual(seen.map(({ id }) => id));
  expect(now.map(({ status }) => status)).toEqual(['interrupted', 'interrupted', 'completed']);
  expect(now.map(({ finished_at: at }) => at)).toEqual([null, null, expect.stringMatching(/Z$/)]);
  expect((await second.get(`/pipelines/${asking}/questions`)).body).toMatchObject([{ id: 'q1', stage: 'warden' }]);
  expect((await second.post(`/pipelines/${working}/cancel`)).status).toBe(409);
  const frames = [];
  for await (const frame of second.events(working)) frames.push(frame); // it ends, although no run.finished is there
  expect(frames.at(-1)?.type).not.toBe('run.finished');

  const resumed = await runCli(['run', await fileOf(second, working), '--resume'], { cwd: first.folder });
  expect(resumed).toMatchObject({ status: 0, stdout: 'g: completed\n' });
  const { body } = await second.get(`/pipelines/${working}/checkpoint`);
  const history = (body as { node_history: { node_id: string }[] }).node_history.map(({ node_id: id }) => id);
  expect(history).toEqual(['start', 'a', 'b', 'c', 'd', 'exit']);
  expect((await second.get(`/pipelines/${working}`)).body).toMatchObject({ id: working, status: 'completed' });
  const rest = [];
  for await (const frame of second.events(working, frames.at(-1)?.id)) rest.push(frame);
  expect(rest.map(({ id }) => id)).toEqual(rest.map((_, n) => frames.length + n));
  expect(rest[0]?.type).toBe('run.started');
  expect(rest.at(-1)?.type).toBe('run.finished');
});

it.each(['SIGINT', 'SIGTERM'] as const)('ends its runs in order at %s, and the streams of watchers with them', async (signal) => {
  const first = await serve();
  const asking = await first.send(GATED);
  const working = await first.send(STEPS);
  await first.until(`/pipelines/${asking}`, ({ status }: { status: string }) => status === 'waiting');
  const watched = (async () => {
    const types = [];
    for await (const { event } of first.events(working)) types.push(event.type === 'run.finished' ? event.status : event.type);
    return types;
  })();
  await first.until(`/pipelines/${working}`, ({ current_node: node }: { current_node: string }) => node === 'a');
  expect(await first.end(signal)).toBe(0);
  expect((await watched).at(-1)).toBe('interrupted');
  expect(first.stderr()).toContain(`${working}: g interrupted: ended by the end of its server\n`);

  const second = await serve({ folder: first.folder });
  const now = (await second.get('/pipelines')).body as { id: string; status: string; finished_at: string | null }[];
  expect(now.map(({ status, finished_at: at }) => [status, at])).toEqual([
    ['interrupted', expect.stringMatching(/Z$/)],
    ['interrupted', expect.stringMatching(/Z$/)],
  ]);
  for (const id of [asking, working]) expect((await runCli(['journal', 'verify', id], { cwd: first.folder })).status).toBe(0);
  const resumed = await runCli(['run', await fileOf(second, asking), '--resume', '--yes'], { cwd: first.folder });
  expect(resumed).toMatchObject({ status: 0, stdout: 'g: completed\n' });
});

it('loses no answer that it accepted', async () => {
  const first = await serve();
  const asking = await first.send(GATED);
  await first.until(`/pipelines/${asking}`, ({ status }: { status: string }) => status === 'waiting');
  const file = await fileOf(first, asking);
  expect((await first.post(`/pipelines/${asking}/questions/q1/answer`, { value: 'O' })).status).toBe(200);
  await first.end('SIGKILL');
  // Standard input is empty, so a question that is asked again would be skipped, and the run would fail.
  const resumed = await runCli(['run', file, '--resume', '--ask', 'stdin'], { cwd: first.folder });
  expect(resumed.stderr + resumed.stdout).toMatch(/g: completed|is completed/);
  expect(resumed.status).toBe(0);
});

/** Long enough that reading it takes a moment: a kill falls between keeping it and its first event. */
const STAGES = Array.from({ length: 4_000 }, (_, n) => `n${n}`);
const LONG = pipeline(`${STAGES.map((id) => `${id} [prompt="stage ${id}"]`).join('\n')}\nstart -> ${STAGES.join(' -> ')} -> exit`);
const HOURS_AGO = new Date(Date.now() - 2 * 3_600_000);

it('leaves an upload without a run, which a later server removes, and no other', { timeout: 60_000 }, async () => {
  const first = await serve();
  const done = await first.send(QUICK);
  await first.until(`/pipelines/${done}`, ({ status }: { status: string }) => status === 'completed');
  const kept = await fileOf(first, done);
  const sent = path.join(first.folder, '.mlld', 'serve');
  const folders = (): string[] => fs.readdirSync(sent).map((name) => path.join(sent, name));
  const before = folders();
  const watcher = fs.watch(sent);
  const appeared = new Promise((resolve) => watcher.once('change', resolve));
  first.post('/pipelines', { dot: LONG }).catch(() => undefined); // its response never comes
  await appeared;
  await first.end('SIGKILL');
  watcher.close();
  const [stray = ''] = folders().filter((folder) => !before.includes(folder));
  expect(fs.existsSync(stray)).toBe(true);
  expect((await runCli(['journal', 'list', '--json'], { cwd: first.folder })).stdout.match(/"run":/g)).toHaveLength(1);

  const young = await serve({ folder: first.folder });
  expect(await young.end('SIGTERM')).toBe(0);
  expect(fs.existsSync(stray)).toBe(true);
  for (const folder of folders()) fs.utimesSync(folder, HOURS_AGO, HOURS_AGO);
  const later = await serve({ folder: first.folder });
  expect(await later.end('SIGTERM')).toBe(0); // it ends when it has swept
  expect(fs.existsSync(stray)).toBe(false);
  expect(fs.existsSync(path.join(first.folder, kept))).toBe(true);
});
