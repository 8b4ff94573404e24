/** Runs that a killed server left are resumed by the next one: on request, at its start, or with the answer that was missing. */
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Fact } from '../../journal/event.js';
import { runIdAt, workflowOf } from '../../journal/ids.js';
import { openFileStore } from '../../journal/storage/file-store.js';
import { projectFolder, runCli } from '../support/cli.js';
import { pipeline } from '../support/pipeline-run.js';
import { serve as startServer, type Served, type ServeOptions } from '../support/served.js';
import { started } from '../support/written-runs.js';
import { GATED } from './pipelines.js';

/** Stage `b` works for a minute the first time. */
const WORKING = pipeline(
  'a [prompt="a"]; b [shape=parallelogram, tool_command="echo b >> asked.txt; [ -e again ] || { touch again; sleep 60; }"]; start -> a -> b -> exit',
  'backend="cmd:echo a >> asked.txt; echo reply"',
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

const is =
  (word: string) =>
  ({ status }: { status: string }): boolean =>
    status === word;

async function killedAtWork(): Promise<{ readonly folder: string; readonly id: string; readonly asked: () => string }> {
  const first = await serve();
  const id = await first.send(WORKING);
  const asked = (): string => fs.readFileSync(path.join(first.folder, 'asked.txt'), 'utf8').replaceAll('\n', '');
  await expect.poll(() => fs.existsSync(path.join(first.folder, 'again')), { timeout: 50_000 }).toBe(true);
  await first.end('SIGKILL');
  return { folder: first.folder, id, asked };
}

async function said(served: Served, text: string): Promise<void> {
  await expect.poll(served.stderr, { timeout: 50_000 }).toContain(text);
}

it('are named when it starts, and resumed on request, once', { timeout: 120_000 }, async () => {
  const { folder, id, asked } = await killedAtWork();
  const second = await serve({ folder });
  await said(second, `${id}: interrupted; POST /pipelines/${id}/resume resumes it\n`);
  const { status, body } = await second.post(`/pipelines/${id}/resume`);
  expect([status, body]).toEqual([202, { id, status: 'running' }]);
  await second.until(`/pipelines/${id}`, is('completed'));
  expect(asked()).toBe('abb');
  const over = await second.post(`/pipelines/${id}/resume`);
  expect([over.status, over.text]).toEqual([409, expect.stringContaining('RUN_FINISHED')]);
  expect((await second.post('/pipelines/20260101-000000-000-aaaa/resume')).status).toBe(404);
});

it('are not resumed while they are running, however many requests arrive at once', { timeout: 120_000 }, async () => {
  const { folder, id, asked } = await killedAtWork();
  fs.rmSync(path.join(folder, 'again'));
  const second = await serve({ folder });
  const answers = await Promise.all([1, 2, 3].map(() => second.post(`/pipelines/${id}/resume`)));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 409, 409]);
  await expect.poll(() => fs.existsSync(path.join(folder, 'again')), { timeout: 50_000 }).toBe(true);
  const running = await second.post(`/pipelines/${id}/resume`);
  expect([running.status, running.text]).toEqual([409, expect.stringContaining('RUN_GOES_ON')]);
  expect(asked()).toBe('abb');
  // It is one of its own now.
  expect((await second.post(`/pipelines/${id}/cancel`)).status).toBe(202);
  await second.until(`/pipelines/${id}`, is('cancelled'));
  expect((await second.post(`/pipelines/${id}/resume`)).status).toBe(202);
  await second.until(`/pipelines/${id}`, is('completed'));
});

it('are resumed by --resume-runs, at most --max-runs at a time', { timeout: 120_000 }, async () => {
  const first = await serve();
  const dot = pipeline('work [shape=parallelogram, tool_command="touch begun; [ -e go ] || sleep 60"]; start -> work -> exit');
  const ids = [await first.send(dot), await first.send(dot)];
  for (const id of ids) await first.until(`/pipelines/${id}`, ({ current_node: node }: { current_node: string }) => node === 'work');
  await first.end('SIGKILL');
  fs.writeFileSync(path.join(first.folder, 'go'), '');

  const second = await serve({ folder: first.folder, args: ['--resume-runs', '--max-runs', '1'] });
  for (const id of ids) await second.until(`/pipelines/${id}`, is('completed'));
  expect(await second.end('SIGTERM')).toBe(0);
  const third = await serve({ folder: first.folder, args: ['--resume-runs'] });
  expect(await third.end('SIGTERM')).toBe(0); // it ends when it has looked
  expect(third.stderr()).not.toMatch(/^\S+: .* resumed$/m);
});

it('take an answer to a question that they had asked', { timeout: 120_000 }, async () => {
  const first = await serve();
  const id = await first.send(GATED);
  await first.until(`/pipelines/${id}`, is('waiting'));
  await first.end('SIGKILL');

  const second = await serve({ folder: first.folder });
  const { body } = await second.get(`/pipelines/${id}/questions`);
  expect(body).toMatchObject([{ id: 'q1', stage: 'warden' }]);
  expect((await second.post(`/pipelines/${id}/questions/q1/answer`, { value: 'X' })).status).toBe(422);
  expect((await second.get(`/pipelines/${id}`)).body).toMatchObject({ status: 'interrupted' });
  const given = await second.post(`/pipelines/${id}/questions/q1/answer`, { value: 'O' });
  expect([given.status, given.body]).toEqual([200, { id: 'q2', accepted: true, choice: { key: 'O', label: '[O] Open' } }]);
  await second.until(`/pipelines/${id}`, is('completed'));
  expect((await second.post(`/pipelines/${id}/questions/q1/answer`, { value: 'O' })).status).toBe(409);
});

it('are still of the server that resumed them when the run that began them was removed', { timeout: 120_000 }, async () => {
  const { folder, id } = await killedAtWork();
  fs.rmSync(path.join(folder, 'again'));
  const second = await serve({ folder });
  expect((await second.post(`/pipelines/${id}/resume`)).status).toBe(202);
  await expect.poll(() => fs.existsSync(path.join(folder, 'again')), { timeout: 50_000 }).toBe(true);
  const gc = await runCli(['journal', 'gc', '--keep', '0', '--needed'], { cwd: folder });
  expect(gc.stdout).toContain(id);
  const [left] = (await second.get('/pipelines')).body as { id: string; status: string }[];
  expect(left).toMatchObject({ id: expect.not.stringContaining(id) as string, status: 'running' });
  expect((await second.post(`/pipelines/${left?.id}/cancel`)).status).toBe(202);
  await second.until(`/pipelines/${left?.id}`, is('cancelled'));
});

it('say where they can be resumed when the text that was sent lies in another folder', { timeout: 120_000 }, async () => {
  const first = await serve();
  const id = await first.send(pipeline('work [shape=parallelogram, tool_command="sleep 60"]; start -> work -> exit'));
  await first.until(`/pipelines/${id}`, ({ current_node: node }: { current_node: string }) => node === 'work');
  await first.end('SIGKILL');
  fs.rmSync(path.join(first.folder, '.mlld/serve'), { recursive: true });

  const second = await serve({ folder: first.folder });
  const { status, text } = await second.post(`/pipelines/${id}/resume`);
  expect([status, JSON.parse(text)]).toMatchObject([
    409,
    {
      error: {
        code: 'FILE_NOT_FOUND',
        hint: 'its text was sent to a server in another folder: resume it there, or send the text again, which starts a new run',
      },
    },
  ]);
});

it('have names that begin no line of the log of the server', { timeout: 120_000 }, async () => {
  const file = '.mlld/serve/sent/p.dot';
  const folder = await projectFolder({ [file]: pipeline('start -> exit') });
  const ref = { workflow: workflowOf(file), run: runIdAt(Date.UTC(2026, 10, 20, 12), '0000') };
  const journal = await openFileStore(folder).create(ref);
  await journal.append({ ...started(ref), pipeline: 'p\r\nForged' } as Fact);
  await journal.close();
  const served = await serve({ folder, args: ['--resume-runs'] });
  await expect.poll(() => served.stderr()).toContain('not resumed');
  await expect.poll(() => served.stderr()).toContain('Forged');
  expect(served.stderr()).not.toMatch(/^Forged/m);
});

it.each(['../../beside.dot', 'absolute'])(
  'are not resumed where their record names a file outside of the project: %s',
  { timeout: 120_000 },
  async (name) => {
    const outside = await projectFolder({
      'beside.dot': pipeline('work [shape=parallelogram, tool_command="touch ran"]; start -> work -> exit'),
    });
    const folder = path.join(outside, 'a/project');
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, 'package.json'), '{}');
    const ref = {
      workflow: workflowOf(name === 'absolute' ? path.join(outside, 'beside.dot') : name),
      run: runIdAt(Date.UTC(2026, 10, 20, 12), '0000'),
    };
    const journal = await openFileStore(folder).create(ref);
    await journal.append({ ...started(ref), pipeline: 'beside' } as Fact);
    await journal.close();
    const served = await serve({ folder });
    const { status, text } = await served.post(`/pipelines/${ref.run}/resume`);
    expect([status, text]).toEqual([409, expect.stringContaining('RUN_OUTSIDE')]);
    expect(served.stderr()).not.toContain('resumed');
  },
);
