import { expect, it } from 'vitest';
import { openFileStore } from '../../journal/storage/file-store.js';
import { openMemoryStore } from '../../journal/storage/memory-store.js';
import { journalStoreContract, largeTextContract } from './store-contract.js';
import { temporaryFolder } from './support/folder.js';

for (const contract of [journalStoreContract, largeTextContract]) {
  contract('memory', openMemoryStore);
  contract('file', () => openFileStore(temporaryFolder()));
}

it('reads files and memory without waiting', () => {
  for (const store of [openMemoryStore(), openFileStore(temporaryFolder())]) expect(store.immediate).toBeDefined();
});
