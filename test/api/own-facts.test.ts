/** Facts of the embedding program: what it appends it reads again, in both stores, and the journal treats it as its own. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createRun,
  deleteRun,
  factOf,
  foldWorkflow,
  followRun,
  openFileStore,
  openMemoryStore,
  ownEventOf,
  readEvents,
  readFacts,
  reopenRun,
  verifyRun,
  workflowOf,
  type JournalStore,
  type Json,
  type OwnType,
  type Projection,
  type ReadFact,
  type RunTarget,
} from '../../src/api/index.js';
import { callCli } from '../support/in-process/call-cli.js';

const THREAD = workflowOf('threads/support-17');
let folder: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mlld-own-')));
  writeFileSync(path.join(folder, 'mlld-config.json'), '{}');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function facts(store: JournalStore, run: RunTarget): Promise<readonly (readonly [OwnType, Json | undefined])[]> {
  const found: ReadFact[] = [];
  for await (const fact of readFacts(store, run)) found.push(fact);
  return found.map(({ type, data }) => [type, data] as const);
}

describe.each<[string, () => JournalStore]>([
  ['memory', () => openMemoryStore()],
  ['file', () => openFileStore(folder)],
])('own facts in a %s store', (_name, open) => {
  it('are read again in the order in which they were appended, small and large', async () => {
    const store = open();
    const run = await createRun(store, THREAD);
    const large = 'tide '.repeat(40_000);
    const places = await Promise.all([
      run.append('app.saver.checkpoint', { step: 1 }, { durability: 'ordered' }),
      run.append('app.saver.checkpoint', { step: 2, large }, { durability: 'written' }),
      run.append('app.saver.write', [3, null, -0]),
    ]);
    await run.finish();
    expect(places).toEqual([1, 2, 3]);
    expect(await facts(store, run.ref)).toEqual([
      ['app.saver.checkpoint', { step: 1 }],
      ['app.saver.checkpoint', { step: 2, large }],
      ['app.saver.write', [3, null, -0]],
    ]);
    expect(await verifyRun(store, run.ref)).toMatchObject({ ok: true, events: 5 });
  });

  it('go on in the same run when a later process reopens it, until it is finished', async () => {
    const store = open();
    const first = await createRun(store, THREAD, { name: 'support' });
    await first.append('app.saver.checkpoint', 1);
    await first.close();
    const again = await reopenRun(store, first.ref);
    expect(await again.append('app.saver.checkpoint', 2)).toBe(2);
    await again.finish('failed', { code: 'OUT_OF_TIME', message: 'the visitor left' });
    expect((await facts(store, first.ref)).map(([, data]) => data)).toEqual([1, 2]);
    await expect(reopenRun(store, first.ref)).rejects.toMatchObject({ code: 'JOURNAL_RUN_FINISHED' });
    expect(await verifyRun(store, first.ref)).toMatchObject({ ok: true, violations: [] });
  });

  it('begin when a run is reopened whose process died before its first event', async () => {
    const store = open();
    const ref = { workflow: THREAD, run: (await createRun(openMemoryStore(), THREAD)).ref.run };
    await (await store.create(ref)).close();
    const again = await reopenRun(store, ref);
    await again.append('app.saver.checkpoint', 1);
    await again.finish();
    expect(await verifyRun(store, ref)).toMatchObject({ ok: true, events: 3 });
  });

  it('are folded over all runs of a workflow', async () => {
    const store = open();
    const workflow = workflowOf('threads/folded');
    for (const steps of [[1, 2], [3]]) {
      const run = await createRun(store, workflow);
      for (const step of steps) await run.append('app.counter.step', step);
      await run.finish();
    }
    const types: Projection<string[]> = {
      initial: () => [],
      apply: (seen, event) => (ownEventOf(event) ? [...seen, event.type] : seen),
    };
    expect(await foldWorkflow(store, workflow, types)).toEqual(Array(3).fill('app.counter.step'));
  });

  it('are followed while they come', async () => {
    const store = open();
    const run = await createRun(store, THREAD);
    const seen: unknown[] = [];
    const following = (async () => {
      for await (const event of followRun(store, run.ref, { everyMs: 1, types: ['app'] })) seen.push((await factOf(store, event))?.data);
    })();
    for (const step of [1, 2, 3]) await run.append('app.counter.step', step);
    await run.finish();
    await following;
    expect(seen).toEqual([1, 2, 3]);
  });

  it('are sealed when they are secret', async () => {
    const store = open();
    const run = await createRun(store, THREAD);
    await run.append('app.saver.token', 'sesame', { isSecret: true });
    await run.finish();
    const events = [];
    for await (const event of readEvents(store, run.ref)) events.push(event);
    expect(JSON.stringify(events)).not.toContain('sesame');
    expect(ownEventOf(events[1] as (typeof events)[number])?.data).not.toHaveProperty('inline');
  });

  it('are deleted with their run', async () => {
    const store = open();
    const workflow = workflowOf('threads/deleted');
    const run = await createRun(store, workflow);
    await expect(deleteRun(store, run.ref)).rejects.toMatchObject({ code: 'JOURNAL_RUN_IN_USE' });
    await run.close();
    await deleteRun(store, run.ref);
    expect(await store.runs(workflow)).toEqual([]);
  });

  it.each(['saver.checkpoint', 'app.saver', 'app.Saver.x', 'call.completed', 'app..x'])('have no type %s', async (type) => {
    const run = await createRun(open(), THREAD);
    await expect(run.append(type as OwnType, 1)).rejects.toMatchObject({ code: 'BAD_OPTION' });
    await run.close();
  });

  it('are JSON, and one that is not costs only itself', async () => {
    const store = open();
    const run = await createRun(store, THREAD);
    await expect(run.append('app.saver.odd', 1n as unknown as Json)).rejects.toMatchObject({ code: 'NOT_JSON' });
    await run.append('app.saver.even', 2);
    await run.finish();
    expect(await facts(store, run.ref)).toEqual([['app.saver.even', 2]]);
  });
});

describe('the commands', () => {
  it('show, keep, verify, redact and delete own facts like any event', async () => {
    const store = openFileStore(folder);
    const run = await createRun(store, workflowOf('threads/shown'), { name: 'shown' });
    await run.append('app.saver.checkpoint', { word: 'sesame' });
    await run.finish();
    const mlld = (...argv: string[]) => callCli(['journal', ...argv], { cwd: folder });
    expect((await mlld('show', run.ref.run)).stdout).toMatch(/app\.saver\.checkpoint.*sesame/);
    expect((await mlld('verify', run.ref.run)).status).toBe(0);
    expect((await mlld('gc', '--keep', '0')).stdout).toContain(run.ref.run); // among those that are kept
    expect((await store.runs(run.ref.workflow)).length).toBe(1);
    expect((await mlld('redact', run.ref.run, '--match', 'sesame')).status).toBe(0);
    expect(await facts(store, run.ref)).toEqual([['app.saver.checkpoint', undefined]]);
    expect((await mlld('verify', run.ref.run)).status).toBe(0);
  });
});
