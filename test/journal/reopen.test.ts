/** A run that is continued after its writer died: whatever the writer left, and wherever the next one dies. */
import { appendFileSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { journalFolder, lockPath, runPath } from '../../journal/storage/layout.js';
import { openFileStore } from '../../journal/storage/file-store.js';
import type { JournalStore } from '../../journal/store.js';
import { verifyRun } from '../../replay/reports/audit/verify.js';
import { callStarted, finished, opStarted, runRef, started } from './support/facts.js';
import { failingDisk } from './support/failing-disk.js';
import { factOf, readRun } from './support/read.js';
import { temporaryFolder } from './support/folder.js';

const facts = [started, opStarted(1), opStarted(2)];

/** A project with a run that a process left without an end. */
async function leftRun(): Promise<{ readonly root: string; readonly file: string; readonly store: JournalStore }> {
  const root = temporaryFolder();
  const store = openFileStore(root);
  const journal = await store.create(runRef(1));
  for (const fact of facts) await journal.append(fact);
  await journal.close();
  return { root, file: runPath(journalFolder(root), runRef(1)), store };
}

async function factsOf(store: JournalStore): Promise<unknown[]> {
  const { events, defects } = await readRun(store, runRef(1));
  expect(defects.filter(({ kind }) => kind !== 'torn-tail')).toEqual([]);
  return events.map(factOf);
}

describe('a run that is continued', () => {
  it('continues in its file when that ends with a whole line', async () => {
    const { root, store } = await leftRun();
    const again = await store.reopen(runRef(1));
    await again.append(callStarted(1));
    await again.close();
    expect(await factsOf(openFileStore(root))).toEqual([...facts, callStarted(1)]);
    expect(readdirSync(join(runPath(journalFolder(root), runRef(1)), '..'))).toHaveLength(1);
  });

  it('continues behind the last whole line, wherever in a line the writer was killed', async () => {
    const { root, file } = await leftRun();
    const whole = readFileSync(file);
    const lastLine = whole.lastIndexOf('\n', whole.length - 2) + 1;
    for (let size = lastLine + 1; size < whole.length; size += 7) {
      rmSync(join(file, '..'), { recursive: true });
      const store = openFileStore(root);
      await (await store.create(runRef(1))).close();
      writeFileSync(file, whole.subarray(0, size));
      const again = await store.reopen(runRef(1));
      await again.append(callStarted(1));
      await again.append(finished);
      await again.close();
      expect(await factsOf(store), `cut after ${size} bytes`).toEqual([...facts.slice(0, 2), callStarted(1), finished]);
      expect(readFileSync(file).subarray(0, size)).toEqual(whole.subarray(0, size)); // nothing is removed
    }
  });

  it('continues a third time, behind a segment', async () => {
    const { file, store } = await leftRun();
    for (const n of [1, 2]) {
      appendFileSync(n === 1 ? file : file.replace('.ndjson', '.2.ndjson'), '{"v":1,"seq":');
      const again = await store.reopen(runRef(1));
      await again.append(callStarted(n));
      await again.close();
    }
    expect(await factsOf(store)).toEqual([...facts, callStarted(1), callStarted(2)]);
  });

  it('is not the run of a dead process any more', async () => {
    const { root, store } = await leftRun();
    const lock = lockPath(journalFolder(root), runRef(1));
    writeFileSync(lock, '{"pid":1,"started":"","boot":"long ago"}');
    const again = await store.reopen(runRef(1));
    expect(JSON.parse(readFileSync(lock, 'utf8'))).toMatchObject({ pid: process.pid });
    await again.close();
  });

  it('is refused where a line before its end is damaged, and stays as it is', async () => {
    const { file, store } = await leftRun();
    const whole = readFileSync(file, 'utf8');
    const damaged = whole.replace('"show"', '"shaw"');
    writeFileSync(file, damaged);
    await expect(store.reopen(runRef(1))).rejects.toMatchObject({ code: 'JOURNAL_RUN_DAMAGED' });
    expect(readFileSync(file, 'utf8')).toBe(damaged);
    expect((await store.runs(runRef(1).workflow))[0]?.liveness).toBe('crashed');
  });

  it('can be continued again, whichever call of the disk is the last of the process that continued it', async () => {
    for (let n = 1; ; n++) {
      const { root, file } = await leftRun();
      appendFileSync(file, '{"v":1,"seq":3'); // a torn tail takes the most steps
      const failing = failingDisk(n, 'dead');
      let acknowledged = false;
      try {
        const again = await openFileStore(root, { disk: failing.disk }).reopen(runRef(1), { waitMs: 0 });
        await again.append(callStarted(1));
        acknowledged = true;
        await again.close();
      } catch {
        // The process is dead.
      }
      rmSync(lockPath(journalFolder(root), runRef(1)), { force: true }); // what `isAlive` says of a dead process
      for (const name of readdirSync(join(journalFolder(root), 'llm+run+patrol.mld'))) {
        if (name.startsWith('turn-')) rmSync(join(journalFolder(root), 'llm+run+patrol.mld', name));
      }
      const store = openFileStore(root);
      const left = await factsOf(store);
      expect(left.slice(0, 3), `killed at call ${n}`).toEqual(facts);
      if (acknowledged) expect(left, `killed at call ${n}`).toContainEqual(callStarted(1));
      const next = await store.reopen(runRef(1));
      await next.append(opStarted(9));
      await next.close();
      expect(await factsOf(store)).toEqual([...left, opStarted(9)]);
      expect((await verifyRun(store, runRef(1))).defects.filter(({ kind }) => kind !== 'torn-tail')).toEqual([]);
      if (failing.calls() < n) return; // it lived to its end
    }
  });

  it('loses nothing that was whole when the file is cut to it', async () => {
    const { file, store } = await leftRun();
    const size = readFileSync(file).length;
    appendFileSync(file, 'half');
    truncateSync(file, size);
    const again = await store.reopen(runRef(1));
    await again.close();
    expect(await factsOf(store)).toEqual(facts);
  });
});
