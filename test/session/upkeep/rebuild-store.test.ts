import { describe, expect, it } from 'vitest';
import type { RebuildOutcome } from '../../../journal/postgres/rebuild/rebuild-index.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import { rebuildStore } from '../../../src/session/upkeep/rebuild-store.js';
import { runRef } from '../../journal/support/facts.js';

describe('rebuilding a store', () => {
  const storeThat = (outcome: RebuildOutcome) => Object.assign(openMemoryStore(), { rebuild: async () => outcome });

  it('returns what was changed', async () => {
    const results = { total: 1, added: 1, changed: 0, removed: 0 };
    const report = { dryRun: true, results, claims: 2, offers: 3, budgets: [], damagedRuns: [] };
    expect(await rebuildStore(storeThat({ kind: 'rebuilt', report }), { dryRun: true })).toEqual(report);
  });

  it.each([
    { runs: [runRef(1)], says: `run ${runRef(1).run} of llm/run/patrol.mld is in flight` },
    { runs: [runRef(1), runRef(2)], says: `2 runs, as ${runRef(1).run} of llm/run/patrol.mld, are in flight` },
  ])('is refused while $runs.length runs are in flight', async ({ runs, says }) => {
    const refused = rebuildStore(storeThat({ kind: 'in flight', runs }), { dryRun: false });
    await expect(refused).rejects.toMatchObject({ code: 'RUN_RUNNING', message: expect.stringContaining(says) });
  });
});
