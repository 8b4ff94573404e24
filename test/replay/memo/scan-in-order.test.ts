import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { JournalEvent } from '../../../journal/event.js';
import { seqOf, type RunId } from '../../../journal/ids.js';
import type { Defect, JournalStore, RunFile, ScanReport } from '../../../journal/store.js';
import { scanInOrder } from '../../../replay/memo/scan/scan-in-order.js';
import { runRef } from '../../journal/support/facts.js';

const MB = 1024 * 1024;
const report: ScanReport = { events: 1, defects: 0, end: { offset: 1, seq: seqOf(0), hash: '' } };

function runOf(n: number, bytes = 100): { readonly file: RunFile } {
  return { file: { ref: runRef(n), liveness: 'crashed', bytes } };
}

/** A store whose scans end when `answer` or `fail` says so: each finds one event and one defect. */
function storeAtDistance(immediate?: JournalStore['immediate']) {
  const begun: RunId[] = [];
  const answers = new Map<RunId, { answer(): void; fail(error: Error): void }>();
  const scan: JournalStore['scan'] = (ref, visit, options) => {
    begun.push(ref.run);
    return new Promise((resolve, reject) => {
      const answer = (): void => {
        visit({ type: 'run.started', seq: 0 } as JournalEvent, { offset: 0, bytes: 1 });
        options?.onDefect?.({ kind: 'corrupt', run: ref, message: 'a line' });
        resolve(report);
      };
      answers.set(ref.run, { answer, fail: reject });
    });
  };
  return { store: { scan, ...(immediate && { immediate }) }, begun, of: (n: number) => answers.get(runRef(n).run)! };
}

function scanned(store: Pick<JournalStore, 'scan' | 'immediate'>, runs: Parameters<typeof scanInOrder>[1]) {
  const log: string[] = [];
  const reader = {
    store,
    visit: (_event: JournalEvent, _position: unknown, { run }: { readonly run: RunId }) => void log.push(`event ${run}`),
    onDefect: ({ run }: Defect) => void log.push(`defect ${run.run}`),
  };
  const done = (async () => {
    for await (const { file } of scanInOrder(reader, runs)) log.push(`end ${file.ref.run}`);
  })();
  return { done, log };
}

const logOf = (...ns: number[]): string[] => ns.map((n) => runRef(n).run).flatMap((run) => [`event ${run}`, `defect ${run}`, `end ${run}`]);

it('begins runs together, and visits and reports them in their order, whichever is read first', async () => {
  const { store, begun, of } = storeAtDistance();
  const { done, log } = scanned(store, [runOf(1), runOf(2), runOf(3)]);
  expect(begun).toEqual([1, 2, 3].map((n) => runRef(n).run));
  for (const n of [3, 2]) of(n).answer();
  await nextTurn();
  expect(log).toEqual([]);
  of(1).answer();
  await done;
  expect(log).toEqual(logOf(1, 2, 3));
});

it('reports the first failure in their order behind what lies before it, and leaves no other one behind', async () => {
  const stray: unknown[] = [];
  const listener = (error: unknown): void => void stray.push(error);
  process.on('unhandledRejection', listener);
  const { store, of } = storeAtDistance();
  const { done, log } = scanned(store, [runOf(1), runOf(2), runOf(3), runOf(4)]);
  of(3).fail(new Error('the third'));
  await nextTurn();
  of(2).fail(new Error('the second'));
  await nextTurn();
  expect(log).toEqual([]);
  of(1).answer();
  await expect(done).rejects.toThrow('the second');
  of(4).fail(new Error('the fourth'));
  await nextTurn();
  process.off('unhandledRejection', listener);
  expect(log).toEqual(logOf(1));
  expect(stray).toEqual([]);
});

it('holds at most 4 MB of runs before their turn, and at most 32 of them', async () => {
  const large = storeAtDistance();
  const { done, log } = scanned(large.store, [runOf(1, 9 * MB), runOf(2, 3 * MB), runOf(3, 2 * MB), runOf(4, 9 * MB)]);
  expect(large.begun).toHaveLength(2);
  large.of(1).answer();
  await nextTurn();
  expect(large.begun).toHaveLength(3);
  for (const n of [2, 3]) {
    large.of(n).answer();
    await nextTurn();
  }
  expect(large.begun).toHaveLength(4);
  large.of(4).answer();
  await done;
  expect(log).toEqual(logOf(1, 2, 3, 4));

  const many = storeAtDistance();
  void scanned(
    many.store,
    Array.from({ length: 100 }, (_, n) => runOf(n)),
  );
  expect(many.begun).toHaveLength(33);
});

it('reads one run after the other where reading does not wait', async () => {
  const { store, begun, of } = storeAtDistance({} as NonNullable<JournalStore['immediate']>);
  const { done, log } = scanned(store, [runOf(1), runOf(2)]);
  expect(begun).toHaveLength(1);
  of(1).answer();
  await nextTurn();
  expect(log).toEqual(logOf(1));
  of(2).answer();
  await done;
  expect(log).toEqual(logOf(1, 2));
});
