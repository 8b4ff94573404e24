/** The index gives most events to one of its folds only: the others must have nothing to do with them. */
import { expect, it } from 'vitest';
import type { FactType, JournalEvent } from '../../../journal/event.js';
import type { RunRef } from '../../../journal/ids.js';
import type { Projection } from '../../../replay/fold/projection.js';
import { index, ONLY_OF_MEMO } from '../../../replay/memo/snapshot.js';
import { completeness } from '../../../replay/memo/checkpoints.js';
import { definitions } from '../../../replay/memo/definitions.js';
import { processes } from '../../../replay/fold/processes.js';

const FOLDS: { readonly [Member in Exclude<keyof ReturnType<typeof index.initial>, 'memo'>]: Projection<unknown> } = {
  complete: completeness as Projection<unknown>,
  definitions: definitions as Projection<unknown>,
  processes: processes as Projection<unknown>,
};

/** An event of which a fold may see nothing but the type. */
function eventWithout(type: FactType): JournalEvent {
  return new Proxy({ type } as JournalEvent, {
    get(_, member) {
      if (member === 'type') return type;
      throw new Error(`it reads ${String(member)} of ${type}, an event that the index does not give it (ONLY_OF_MEMO)`);
    },
  });
}

const PLACE = { ref: { workflow: 'job.mld', run: 'r' } as unknown as RunRef, position: { offset: 0, bytes: 0 } };

it.each(Object.entries(FOLDS))('the fold %s of the index reads no event that only the memo gets', (_, projection) => {
  for (const type of ONLY_OF_MEMO) {
    const state = projection.initial();
    expect(projection.apply(state, eventWithout(type), PLACE)).toBe(state);
    expect(state).toEqual(projection.initial());
  }
});
