/** The state of a pipeline stays current when its journal gives up, or can't take one fact. */
import { expect, it } from 'vitest';
import { JournalError } from '../../journal/errors.js';
import type { Fact, JournalEvent } from '../../journal/event.js';
import { opPath } from '../../journal/ids.js';
import type { PipelineFact } from '../../journal/facts/pipeline-event.js';
import type { Journal } from '../../journal/store.js';
import { openMemoryStore } from '../../journal/storage/memory-store.js';
import { SecretRegistry } from '../../src/runtime/secrets/secret-registry.js';
import { createStateKeeper } from '../../src/session/pipeline/state-keeper.js';
import { createRecorder } from '../../src/session/ports/recorder.js';
import { runRef, started } from '../journal/support/facts.js';

const REF = runRef(1);
const OP = opPath('main');
const FIRST: PipelineFact = { type: 'context.updated', op: OP, updates: { anchor: 'up' }, by: 'start' };
const SECOND: PipelineFact = { type: 'context.updated', op: OP, updates: { sail: 'set' }, by: 'start' };

async function keeping(change: (journal: Journal) => Journal) {
  const journal = await openMemoryStore().create(REF);
  await journal.append(started);
  const followed: JournalEvent[] = [];
  const keeper = createStateKeeper(
    undefined,
    () => REF,
    (event) => followed.push(event),
  );
  const recorder = createRecorder(change(journal), {
    secrets: new SecretRegistry(),
    followers: [keeper.follow],
    count: () => undefined,
    onTrouble: () => {},
  });
  return { keeper, followed, ledger: keeper.ledger(recorder, REF, () => '2026-11-21T08:45:12.123Z') };
}

/** Refuses facts as a journal does that can't write any more, or as one does that can't take a single fact. */
function refusing(journal: Journal, code: 'JOURNAL_DISK_FULL' | 'JOURNAL_EVENT_TOO_LARGE', isRefused: (fact: Fact) => boolean): Journal {
  return {
    ref: journal.ref,
    post: (fact) => journal.post(fact),
    append: (fact, placed) => (isRefused(fact) ? Promise.reject(new JournalError(code, 'refused')) : journal.append(fact, placed)),
    appendOwn: async () => Promise.reject(new Error('no own facts here')),
    flush: () => journal.flush(),
    close: () => journal.close(),
  };
}

it('applies each fact once while the journal takes them', async () => {
  const { keeper, followed, ledger } = await keeping((journal) => journal);
  await ledger.append(FIRST);
  ledger.post(SECOND);
  expect(followed.map(({ seq }) => seq)).toEqual([1, 2]);
  expect(keeper.state.main.context).toEqual({ anchor: 'up', sail: 'set' });
});

it('applies facts that the journal refuses, and announces none of them as recorded', async () => {
  const { keeper, followed, ledger } = await keeping((journal) => refusing(journal, 'JOURNAL_DISK_FULL', () => true));
  const appended = ledger.append(FIRST);
  expect(keeper.state.main.context).toEqual({ anchor: 'up' }); // at once: a checkpoint that is written now has it
  await appended;
  ledger.post(SECOND);
  expect(keeper.state.main.context).toEqual({ anchor: 'up', sail: 'set' });
  expect(followed).toEqual([]);
});

it('continues with the journal after one fact that is too large for it', async () => {
  const { keeper, followed, ledger } = await keeping((journal) => refusing(journal, 'JOURNAL_EVENT_TOO_LARGE', (fact) => fact === FIRST));
  await ledger.append(FIRST);
  ledger.post(SECOND);
  expect(keeper.state.main.context).toEqual({ anchor: 'up', sail: 'set' });
  expect(followed.map(({ type, seq }) => `${seq} ${type}`)).toEqual(['1 context.updated']);
});
