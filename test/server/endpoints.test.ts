/** Every request of the reference (13.2), through real HTTP: paths, statuses, bodies. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectFolder, runCli } from '../support/cli.js';
import { pipeline } from '../support/pipeline-run.js';
import { serve, type Served } from '../support/served.js';
import { ENDLESS, GATED, PAID_AND_FAILED, QUICK } from './pipelines.js';

let served: Served;
beforeAll(async () => void (served = await serve({ args: ['--max-runs', '6'] })));
afterAll(() => served?.end('SIGKILL'));

const isOver = ({ status }: { status: string }): boolean => status !== 'running' && status !== 'waiting';
const statusOf = (id: string): Promise<object> => served.until(`/pipelines/${id}`, isOver);

describe('POST /pipelines', () => {
  it('runs a pipeline, and says at once how it is called', async () => {
    const { status, body, headers } = await served.post('/pipelines', { dot: QUICK, set: { berth: '4' }, backend: 'simulated' });
    expect(status).toBe(201);
    expect(headers.get('content-type')).toContain('application/json');
    expect(body).toEqual({ id: expect.stringMatching(/^\d{8}-\d{6}-\d{3}-\w{4}$/), status: 'running' });
    const { id } = body as { id: string };
    expect(await statusOf(id)).toEqual({
      id,
      pipeline_name: 'g',
      status: 'completed',
      current_node: 'exit',
      completed_nodes: 3,
      started_at: expect.stringMatching(/^\d{4}-.*Z$/),
      finished_at: expect.stringMatching(/^\d{4}-.*Z$/),
      outcome: 'success',
      goal_gate_status: {},
      calls: expect.objectContaining({ executed: 1, unresolved: 0, costUsd: 0, unpriced: 0 }) as object,
    });
    expect((await served.get(`/pipelines/${id}/context`)).body).toMatchObject({ context: { berth: '4', 'graph.goal': 'a short one' } });
  });

  it('counts the calls of a run and of those that resumed it together', async () => {
    const { body } = await served.post('/pipelines', { dot: PAID_AND_FAILED });
    const { id } = body as { id: string };
    const paid = { calls: { executed: 1, reused: 0, attempts: 1, inputTokens: 1200, outputTokens: 34, costUsd: 0.25, unpriced: 0 } };
    expect(await statusOf(id)).toMatchObject({ status: 'failed', ...paid });
    writeFileSync(`${served.folder}/tide`, '');
    expect((await served.post(`/pipelines/${id}/resume`, {})).status).toBe(202);
    expect(await served.until(`/pipelines/${id}`, (now: { status: string }) => now.status === 'completed')).toMatchObject(paid);
    const { body: listed } = await served.get('/pipelines');
    expect((listed as { id: string }[]).find((run) => run.id === id)).toMatchObject(paid);
  });

  it.each([
    ['no JSON', '{"dot": ', 400, 'REQUEST_INVALID'],
    ['no object', '[]', 400, 'REQUEST_INVALID'],
    ['no text', { dot: 4 }, 400, 'REQUEST_INVALID'],
    ['numbers to set', { dot: QUICK, set: { berth: 4 } }, 400, 'REQUEST_INVALID'],
    ['a member that means nothing', { dot: QUICK, bakend: 'simulated' }, 400, 'REQUEST_INVALID'],
    ['a backend that there is not', { dot: QUICK, backend: 'oracle' }, 422, 'BACKEND_UNKNOWN'],
    ['a key of the engine', { dot: QUICK, set: { outcome: 'success' } }, 422, 'CONTEXT_KEY'],
    ['too much', { dot: QUICK + ' '.repeat(1024 * 1024) }, 413, 'REQUEST_TOO_LARGE'],
    ['far too much', 'x'.repeat(4 * 1024 * 1024), 413, 'REQUEST_TOO_LARGE'],
  ])('refuses %s', async (_, body, status, code) => {
    const answer = await served.post('/pipelines', body);
    expect([answer.status, answer.body]).toEqual([
      status,
      { error: expect.objectContaining({ code, message: expect.stringMatching(/./) as string }) },
    ]);
  });

  it('refuses a graph with all that lint found, and keeps nothing of it', async () => {
    const kept = (): readonly string[] => readdirSync(path.join(served.folder, '.mlld', 'serve'));
    const before = kept();
    const { status, body } = await served.post('/pipelines', { dot: 'digraph g {\n start [shape=Mdiamond]\n start -> nowhere\n}' });
    expect(status).toBe(422);
    expect(body).toMatchObject({
      error: {
        code: 'PIPELINE_REFUSED',
        diagnostics: expect.arrayContaining([
          expect.objectContaining({ rule: 'edge_target_exists', severity: 'error', line: 3, edge: ['start', 'nowhere'] }),
          expect.objectContaining({ rule: 'terminal_node' }),
        ]) as object,
      },
    });
    expect((await served.post('/pipelines', { dot: QUICK, set: { outcome: 'success' } })).status).toBe(422);
    expect((await served.post('/pipelines', { dot: 'graph g { a -- b }' })).body).toMatchObject({
      error: { diagnostics: [{ rule: 'dot_undirected', line: 1, column: 1 }] },
    });
    expect(kept()).toEqual(before);
  });

  it('runs as many as it may at a time', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 6; n++) ids.push(await served.send(ENDLESS));
    expect((await served.post('/pipelines', { dot: QUICK })).body).toMatchObject({ error: { code: 'RUNS_TOO_MANY' } });
    for (const id of ids) expect((await served.post(`/pipelines/${id}/cancel`)).status).toBe(202);
    for (const id of ids) await statusOf(id);
    await served.send(QUICK);
  });
});

it('says so when nothing can be kept', async () => {
  const elsewhere = await serve({ folder: await projectFolder({ '.mlld': 'a file in the way' }) });
  const { status, body } = await elsewhere.post('/pipelines', { dot: QUICK });
  expect([status, body]).toEqual([503, { error: expect.objectContaining({ code: 'PIPELINE_JOURNAL' }) as object }]);
  await elsewhere.end('SIGKILL');
});

describe('GET /pipelines', () => {
  it('lists all runs, the newest first, also those that were started elsewhere', async () => {
    const first = await served.send(QUICK);
    const second = await served.send(QUICK);
    await statusOf(first);
    await statusOf(second);
    const before = await served.get('/pipelines');
    expect((before.body as { id: string }[]).slice(0, 2).map(({ id }) => id)).toEqual([second, first]);
    const { status } = await runCli(['run', path.join('.mlld', 'serve', await fileOf(first)), '--yes'], { cwd: served.folder });
    expect(status).toBe(0);
    const after = (await served.get('/pipelines')).body as { pipeline_name: string; status: string }[];
    expect(after).toHaveLength((before.body as object[]).length + 1);
    expect(after[0]).toMatchObject({ pipeline_name: 'g', status: 'completed' });
  });

  it('knows no other runs', async () => {
    for (const id of ['20260101-000000-000-aaaa', 'x', '..%2f..']) {
      const { status, body } = await served.get(`/pipelines/${id}`);
      expect([status, body]).toEqual([404, { error: expect.objectContaining({ code: 'PIPELINE_UNKNOWN' }) }]);
    }
  });

  it('reports unknown paths, and the methods of known ones', async () => {
    expect((await served.get('/pipeline')).body).toMatchObject({ error: { code: 'ROUTE_UNKNOWN' } });
    const { status, headers } = await served.post('/pipelines/20260101-000000-000-aaaa/graph');
    expect([status, headers.get('allow')]).toEqual([405, 'GET']);
  });
});

describe('the events', () => {
  it('come in order, each once, and end with the run', async () => {
    const id = await served.send(QUICK);
    const frames = [];
    for await (const frame of served.events(id)) frames.push(frame);
    expect(frames.map(({ id: n }) => n)).toEqual(frames.map((_, n) => n));
    expect(frames.every(({ id: n, type, event }) => event.seq === n && event.type === type)).toBe(true);
    expect([frames[0]?.type, frames.at(-1)?.type]).toEqual(['run.started', 'run.finished']);
    expect(frames.flatMap(({ event }) => (event.type === 'node.finished' ? [event.node] : []))).toEqual(['start', 'a', 'exit']);
  });

  it('continue after the last one that a client has seen, and end when it has seen all', async () => {
    const id = await served.send(GATED);
    const seen = [];
    for await (const frame of served.events(id)) {
      seen.push(frame);
      if (frame.type === 'question.asked') break; // the line breaks
    }
    await served.post(`/pipelines/${id}/questions/q1/answer`, { value: 'O' });
    for await (const frame of served.events(id, seen.at(-1)?.id)) seen.push(frame);
    expect(seen.map(({ id: n }) => n)).toEqual(seen.map((_, n) => n));
    expect(seen.at(-1)?.type).toBe('run.finished');
    const again = await served.get(`/pipelines/${id}/events`, { 'last-event-id': String(seen.at(-1)?.id) });
    expect(again.status).toBe(204);
    expect((await served.get(`/pipelines/${id}/events`, { 'last-event-id': 'x' })).status).toBe(400);
  });

  it('continue over a restart', async () => {
    const again = pipeline(
      `count [shape=parallelogram, tool_command="test -e twice && echo second || { touch twice; echo first; }"]
       start -> count
       count -> exit [condition="context.tool.output=second"]
       count -> count [loop_restart=true, condition="context.tool.output=first"]`,
    );
    const id = await served.send(again);
    const frames = [];
    for await (const frame of served.events(id)) frames.push(frame);
    expect(frames.map(({ id: n }) => n)).toEqual(frames.map((_, n) => n));
    const ends = frames.flatMap(({ event }) => (event.type === 'run.finished' ? [event.status] : []));
    expect(ends).toEqual(['restarted', 'completed']);
    expect(await statusOf(id)).toMatchObject({ id, status: 'completed', completed_nodes: 2, outcome: 'success' });
  });
});

describe('a question', () => {
  it('is listed, answered once, and selects the edge', async () => {
    const id = await served.send(GATED);
    const at = `/pipelines/${id}`;
    await served.until(at, ({ status }: { status: string }) => status === 'waiting');
    expect((await served.get(`${at}/questions`)).body).toEqual([
      {
        id: 'q1',
        stage: 'warden',
        text: 'Open the field?',
        kind: 'multiple_choice',
        options: [
          { key: 'O', label: '[O] Open' },
          { key: 'A', label: '[A] Again' },
        ],
        default: null,
        timeout_ms: null,
        asked_at: expect.stringMatching(/Z$/),
      },
    ]);
    expect((await served.post(`${at}/questions/q2/answer`, { value: 'O' })).status).toBe(404);
    expect((await served.post(`${at}/questions/q1/answer`, { value: 'X' })).body).toMatchObject({ error: { code: 'ANSWER_UNFIT' } });
    expect((await served.post(`${at}/questions/q1/answer`, { nothing: 1 })).status).toBe(400);
    expect((await served.get(`${at}/questions`)).body).toHaveLength(1);
    const both = await Promise.all(['again', '[A] Again'].map((text) => served.post(`${at}/questions/q1/answer`, { text })));
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 409]));
    expect(both.find(({ status }) => status === 200)?.body).toEqual({
      id: 'q1',
      accepted: true,
      choice: { key: 'A', label: '[A] Again' },
    });
    await served.until(`${at}/questions`, (open: { id: string }[]) => open[0]?.id === 'q2');
    // The same run takes an answer from a terminal.
    expect(await runCli(['answer', id, 'O'], { cwd: served.folder })).toMatchObject({ status: 0 });
    expect(await statusOf(id)).toMatchObject({ status: 'completed', completed_nodes: 6 });
    expect((await served.post(`${at}/questions/q2/answer`, { value: 'O' })).status).toBe(409);
    expect((await served.get(`${at}/questions`)).body).toEqual([]);
  });
});

describe('cancelling', () => {
  it('ends a run in order, and it can be resumed', async () => {
    const id = await served.send(GATED);
    await served.until(`/pipelines/${id}/questions`, (open: object[]) => open.length === 1);
    const { status, body } = await served.post(`/pipelines/${id}/cancel`);
    expect([status, body]).toEqual([202, { id, status: 'cancelling' }]);
    expect(await statusOf(id)).toMatchObject({ status: 'cancelled', outcome: null, finished_at: expect.stringMatching(/Z$/) });
    expect((await served.post(`/pipelines/${id}/cancel`)).status).toBe(409);
    expect((await served.post(`/pipelines/${id}/questions/q1/answer`, { value: 'O' })).status).toBe(409);
    const resumed = await runCli(['run', path.join('.mlld', 'serve', await fileOf(id)), '--resume', '--yes'], { cwd: served.folder });
    expect(resumed).toMatchObject({ status: 0, stdout: 'g: completed\n' });
    expect(await statusOf(id)).toMatchObject({ id, status: 'completed', completed_nodes: 4 });
    const frames = [];
    for await (const frame of served.events(id)) frames.push(frame);
    expect(frames.map(({ id: n }) => n)).toEqual(frames.map((_, n) => n));
    expect(frames.filter(({ type }) => type === 'run.started')).toHaveLength(2);
  });

  it('ends a command that runs', async () => {
    const id = await served.send(ENDLESS);
    await served.until(`/pipelines/${id}`, ({ current_node: node }: { current_node: string }) => node === 'wait');
    await served.post(`/pipelines/${id}/cancel`);
    expect(await statusOf(id)).toMatchObject({ status: 'cancelled' });
  });
});

describe('a look at a run', () => {
  it('gives its graph, coloured, and its source', async () => {
    const id = await served.send(QUICK);
    await statusOf(id);
    const picture = await served.get(`/pipelines/${id}/graph`);
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/svg+xml; charset=utf-8']);
    expect(picture.text).toMatch(/class="node kind(-|&#45;)model state(-|&#45;)success"/);
    expect(picture.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect((await served.get(`/pipelines/${id}/graph?format=dot`)).text).toBe(QUICK);
    expect((await served.get(`/pipelines/${id}/graph?format=png`)).status).toBe(400);
  });

  it('gives the checkpoint that its folder has', async () => {
    const id = await served.send(QUICK);
    await statusOf(id);
    const { body } = await served.get(`/pipelines/${id}/checkpoint`);
    expect(body).toMatchObject({ run_id: id, pipeline_name: 'g', current_node: 'exit', node_history: [{ node_id: 'start' }, {}, {}] });
    const file = path.join(served.folder, '.mlld', 'graph', 'g', id, 'checkpoint.json');
    const written = (): object => JSON.parse(readFileSync(file, 'utf8')) as object;
    // The file follows the journal by a moment; its clock is the run's.
    await expect.poll(written).toEqual({ ...(body as object), timestamp: expect.stringMatching(/Z$/) as string });
  });

  it('leaves a journal like any other', async () => {
    const id = await served.send(QUICK);
    await statusOf(id);
    expect((await runCli(['journal', 'verify', id], { cwd: served.folder })).status).toBe(0);
    expect((await runCli(['journal', 'show', id], { cwd: served.folder })).stdout).toContain('run completed');
  });
});

/** Returns the folder of a run's upload, below `.mlld/serve`. */
async function fileOf(id: string): Promise<string> {
  for await (const { event } of served.events(id)) if (event.type === 'run.started') return event.workflow.replace('.mlld/serve/', '');
  throw new Error('the run has no beginning');
}
