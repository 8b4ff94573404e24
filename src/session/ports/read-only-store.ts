/** Wraps a store so that it reads what is recorded and writes nothing: for plans, and for runs whose journal can't be created. */
import { JournalError } from '../../../journal/errors.js';
import type { JournalStore } from '../../../journal/store.js';

export function readOnlyStore(store: JournalStore): JournalStore {
  const refuseNow = (): never => {
    throw new JournalError('JOURNAL_NOT_WRITABLE', 'nothing is recorded here');
  };
  const refuse = async (): Promise<never> => refuseNow();
  const changes: Partial<JournalStore> = {
    create: refuse,
    reopen: refuse,
    deleteRun: refuse,
    putBlob: refuse,
    packBlob: refuse,
    newBlob: refuseNow,
    payload: async (value) => ({ inline: value }),
    secretPayload: async () => ({ redacted: 'nothing is recorded' }),
    writeDerived: async () => undefined,
    replaceDerived: async () => true,
    ...(store.indexFiles && { indexFiles: { ...store.indexFiles, write: refuse, remove: async () => undefined } }),
  };
  return Object.assign(Object.create(store) as JournalStore, changes);
}
