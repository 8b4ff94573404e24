// Puts the journal behind bench/journal-api.mjs: the file store, bundled on the fly, with its real events, chain and durability.

import { importTypescript } from './import-typescript.mjs';

const { openFileStore } = await importTypescript('journal/storage/file-store.ts');
const ref = { workflow: 'bench.mld', run: '20261121-084512-123-9f3a' };

// The journal numbers and dates events itself. The program makes facts of this shape and in this order right away, so the change is made
// once per event and not measured.
const facts = new Map();
function factOf(event) {
  let fact = facts.get(event);
  if (!fact) {
    const { seq: _seq, ts: _ts, type: _type, key, op, ...members } = event;
    fact = { type: 'call.completed', key, op, ...members };
    facts.set(event, fact);
  }
  return fact;
}

export async function openWriter(dir) {
  const journal = await openFileStore(dir).create(ref);
  return {
    append: (event) => journal.append(factOf(event)),
    post: (event) => void journal.post(factOf(event)),
    close: () => journal.close(),
  };
}

export async function replay(dir, onEvent) {
  return (await openFileStore(dir).scan(ref, onEvent)).events;
}

export const openStore = openFileStore;
