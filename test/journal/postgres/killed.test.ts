/** A real process that is killed while it writes to a server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JournalError } from '../../../journal/errors.js';
import type { TeamStore } from '../../../journal/postgres/open-store.js';
import type { Journal } from '../../../journal/store.js';
import { factOf, readRun } from '../support/read.js';
import { finished, runRef, workflow } from '../support/facts.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from './database.js';

describe.skipIf(noServer !== undefined)(`a writer that is killed${noServer === undefined ? '' : ` (not run: ${noServer})`}`, () => {
  const program = fileURLToPath(new URL(`./endless-writer-${process.pid}.mjs`, import.meta.url));
  let database: TestDatabase;

  beforeAll(async () => {
    const built = await build({
      entryPoints: [fileURLToPath(new URL('./endless-writer.ts', import.meta.url))],
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      external: ['pg'],
      write: false,
    });
    writeFileSync(program, built.outputFiles[0]?.text ?? ''); // beside the test, where `pg` is found
    database = await makeDatabase();
  });
  afterAll(() => rmSync(program, { force: true }));

  async function killAfter(url: string, acknowledgements: number): Promise<number[]> {
    const child = spawn(process.execPath, [program, url, '1000'], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (!child.killed && output.split('\n').length > acknowledgements) child.kill('SIGKILL');
    });
    expect(await once(child, 'close')).toEqual([null, 'SIGKILL']);
    return output.split('\n').slice(0, -1).map(Number);
  }

  /** The server may still carry out a turn that the writer sent before it was killed, and which extends its lease: none after this. */
  async function reopen(store: TeamStore): Promise<Journal> {
    for (;;) {
      await expect.poll(async () => (await store.runs(workflow))[0]?.liveness).toBe('crashed');
      try {
        return await store.reopen(runRef(1));
      } catch (error) {
        if (!(error instanceof JournalError && error.code === 'JOURNAL_RUN_IN_USE')) throw error;
      }
    }
  }

  it.each([1, 40, 700])('has every event that was acknowledged before kill -9, and no torn line: after %i', async (count) => {
    const url = database.project();
    const acknowledged = await killAfter(url, count);
    const store = openTestStore(url);
    const again = await reopen(store);
    const { events, defects } = await readRun(store, runRef(1));
    expect(events.length).toBeGreaterThan(Math.max(...acknowledged));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i));
    expect(defects).toEqual([]);
    await again.append(finished);
    await again.close();
    const after = await readRun(store, runRef(1));
    expect(after.defects).toEqual([]);
    expect(after.events.map(factOf)).toEqual([...events.map(factOf), finished]);
    await store.close();
  });
});
