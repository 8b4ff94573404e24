/** A thousand calls in a row cost the same each on disk. workflows-js.md 17; bench/programs.mjs measures their time. */
import { expect, it } from 'vitest';
import { openMemoryStore, workflow, type JournalEvent } from '../../src/api/index.js';

const STEPS = 1000;

it('writes as much for the last step as for the first', async () => {
  const store = openMemoryStore();
  const program = workflow('steps', async (ctx) => {
    for (let step = 1000; step < 1000 + STEPS; step++) await ctx.step('weigh', [step], async () => step);
  });
  for (const resume of [false, true]) {
    const { journal } = await program.run(null, { store, resume });
    const bytes = new Map<string, number>();
    if (journal) {
      await store.scan(journal, (event: JournalEvent) => {
        if (!('op' in event) || !event.op.startsWith('main/step')) return;
        bytes.set(event.op, (bytes.get(event.op) ?? 0) + JSON.stringify({ ...event, elapsedMs: 0, seq: 0 }).length);
      });
    }
    const sizes = [...bytes.values()];
    expect(sizes).toHaveLength(STEPS);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(16); // numbers of other lengths
  }
});
