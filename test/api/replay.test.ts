/** Replays through the library: what `mlld journal replay` does, for a program that has its own store and its own sinks. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { findProject, openMemoryStore, replayRun, run, type Divergence, type ReplayReport, type RunRef } from '../../src/api/index.js';

const folders: string[] = [];
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true })));

const SCRIPT = `exe llm @ask(q) = sh { echo "$q $(cat /proc/sys/kernel/random/uuid)" }
var @tide = @ask("ebb")
show @tide
`;

/** A recorded run, with its folder gone; `replay` says what was shown. */
async function recorded() {
  const folder = mkdtempSync(path.join(tmpdir(), 'mlld-library-'));
  folders.push(folder);
  const file = path.join(folder, 'tide.mld');
  writeFileSync(file, SCRIPT);
  const store = openMemoryStore();
  let shown = '';
  const { journal, status } = await run({
    script: { kind: 'file', path: file },
    name: 'tide',
    project: await findProject(folder),
    workingDirectory: folder,
    argv: [],
    payload: {},
    inject: [],
    state: [],
    cache: { checkpoint: true },
    environment: { PATH: process.env['PATH'] },
    errorBehavior: 'halt',
    streaming: true,
    structured: false,
    io: {
      stdin: async () => undefined,
      stdout: (text) => void (shown += text),
      stderr: () => undefined,
      nowMs: Date.now,
      monotonicMs: () => performance.now(),
    },
    signal: new AbortController().signal,
    openStore: async () => store,
  });
  expect(status).toBe('completed');
  rmSync(folder, { recursive: true });
  const ref = journal as RunRef;
  const replay = async (scriptText?: string): Promise<{ report: ReplayReport; shown: string }> => {
    let again = '';
    const sinks = { stdout: (text: string) => void (again += text), stderr: () => undefined };
    const replaced = scriptText === undefined ? {} : { scriptText };
    return { report: await replayRun({ store, ref, root: '/nowhere', divergences: 'first', sinks, ...replaced }), shown: again };
  };
  return { shown, replay, store, ref };
}

describe('replayRun', () => {
  it('writes to the sinks what the run wrote, from the store alone', async () => {
    const { shown, replay } = await recorded();
    const again = await replay();
    expect(again.report).toMatchObject({ verdict: 'same', status: 'completed', divergences: [] });
    expect(again.shown).toBe(shown);
    expect(shown).toContain('ebb ');
  });

  it('reports where another script parts from the record', async () => {
    const { replay } = await recorded();
    const { report } = await replay(SCRIPT.replace('"ebb"', '"flow"'));
    const [divergence] = report.divergences as readonly [Divergence];
    expect(report.verdict).toBe('diverged');
    expect(divergence).toMatchObject({
      reason: 'changed',
      kind: 'call',
      expected: { subject: '@ask', request: ['ebb'] },
      actual: { request: ['flow'] },
    });
  });

  it('throws what a user can cause, with its code', async () => {
    const { replay, store, ref } = await recorded();
    await expect(replay('show "')).rejects.toMatchObject({ code: expect.stringMatching(/^[A-Z_]+$/) as string });
    const gone = { ...ref, run: '20200101-000000-000-aaaa' as RunRef['run'] };
    const options = {
      store,
      ref: gone,
      root: '/',
      divergences: 'first' as const,
      sinks: { stdout: () => undefined, stderr: () => undefined },
    };
    await expect(replayRun(options)).rejects.toMatchObject({ code: expect.stringMatching(/^[A-Z_]+$/) as string });
  });
});
