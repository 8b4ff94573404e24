/** Says why the store of a team begins no run of a pipeline, also between two of its runs. team-store.md 1 and 4.5. */
import { afterEach, expect, it } from 'vitest';
import { EXIT_TAKEN, exitStatusOf } from '../../cli/exit-codes.js';
import { JournalError } from '../../journal/errors.js';
import { openMemoryStore } from '../../journal/storage/memory-store.js';
import type { JournalStore } from '../../journal/store.js';
import { pipeline, workshop, type Workshop } from '../support/pipeline-run.js';

let place: Workshop | undefined;
afterEach(() => place?.remove());

it('stops as a taken run does where another process goes on with it between two of its runs, and names the one that it had', async () => {
  const memory = openMemoryStore();
  const create: JournalStore['create'] = (ref, options) =>
    options?.continues ? Promise.reject(new JournalError('JOURNAL_RUN_IN_USE', 'it has a writer')) : memory.create(ref, options);
  const shop = workshop(
    pipeline('a [shape=parallelogram, tool_command="echo"]; start -> a; a -> a [loop_restart=true, weight=1]; a -> exit'),
    Object.create(memory, { create: { value: create } }) as JournalStore,
  );
  place = shop;
  const report = await shop.begin();
  expect(report).toMatchObject({
    status: 'paused',
    error: { code: 'PAUSED', message: expect.stringContaining('takes nothing of this run') },
  });
  expect(report.journal?.run).toBe((await memory.runs(report.journal?.workflow ?? expect.fail('no run'))).at(-1)?.ref.run);
  expect(exitStatusOf(report, undefined, false)).toBe(EXIT_TAKEN);
});

it('names the store that is away and its remedy, and not the folder of the journal', async () => {
  const create: JournalStore['create'] = () =>
    Promise.reject(new JournalError('STORE_UNREACHABLE', 'the store is away', { hint: 'check it' }));
  const shop = workshop(pipeline('start -> exit'), Object.create(openMemoryStore(), { create: { value: create } }) as JournalStore);
  place = shop;
  expect(await shop.begin()).toMatchObject({ status: 'failed', error: { code: 'STORE_UNREACHABLE', hint: 'check it' } });
});
