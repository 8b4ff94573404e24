/** A pipeline that can't begin because the store of a team is away says so. docs/errors.md. */
import { afterEach, expect, it } from 'vitest';
import { JournalError } from '../../../journal/errors.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import type { JournalStore } from '../../../journal/store.js';
import { pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

let place: Workshop | undefined;
afterEach(() => place?.remove());

it('names the store and its remedy, and not the folder of the journal', async () => {
  const create: JournalStore['create'] = () =>
    Promise.reject(new JournalError('STORE_UNREACHABLE', 'the store is away', { hint: 'check it' }));
  const shop = workshop(pipeline('start -> exit'), Object.create(openMemoryStore(), { create: { value: create } }) as JournalStore);
  place = shop;
  expect(await shop.begin()).toMatchObject({ status: 'failed', error: { code: 'STORE_UNREACHABLE', hint: 'check it' } });
});
