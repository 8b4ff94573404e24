import { expect, it } from 'vitest';
import { JournalError } from '../../../journal/errors.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import { describePush, pushSpills } from '../../../src/session/upkeep/push-spills.js';
import { runRef } from '../../journal/support/facts.js';

const ref = runRef(1);

it.each([
  [{ events: 1, salvaged: 0 }, `run ${ref.run} of ${ref.workflow}: brought in 1 event that it recorded while the store was away`],
  [{ events: 12, salvaged: 0 }, `run ${ref.run} of ${ref.workflow}: brought in 12 events that it recorded while the store was away`],
  [
    { events: 0, salvaged: 1 },
    `run ${ref.run} of ${ref.workflow} was sealed while the store was away: the end of 1 call went into a salvage run`,
  ],
  [
    { events: 0, salvaged: 0, error: new JournalError('STORE_WENT_BACK', 'it is not there', { hint: 'ask' }) },
    `warning: what run ${ref.run} of ${ref.workflow} recorded while the store was away stays here: it is not there (ask)`,
  ],
])('says what became of a spill: %j', (pushed, line) => {
  expect(describePush({ ref, ...pushed })).toBe(line);
});

it('has nothing to bring into a store that nothing keeps away', async () => {
  expect(await pushSpills(openMemoryStore())).toEqual([]);
});
