/** Says once that recorded answers can't be opened, because they were sealed with a key that is not the one of this run. */
import type { Payload } from '../../../journal/event.js';
import type { RunRef } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { usable, type StoredResult, type Memo } from '../../../replay/memo/memo.js';

interface Ports {
  readonly store: JournalStore;
  readonly ref: RunRef;
  readonly memos: readonly Memo[];
  readonly stderr: (text: string) => void;
}

/** To be called with a question that may have been answered under another key. */
export function createOtherKeyWarning({ store, ref, memos, stderr }: Ports): (question: { readonly fn: string }) => Promise<void> {
  const looked = new Set<string>();
  let told = false;
  return async ({ fn }) => {
    if (told || looked.has(fn)) return;
    looked.add(fn);
    for (const answer of sealedResults(memos, fn)) {
      if (answer.ref.run === ref.run) continue;
      const event = await store.readAt(answer.ref, answer.position);
      const ours = (await store.knownSecrets())?.keyId;
      const theirs = event?.type === 'call.completed' ? (keyOf(event.result) ?? keyOf(event.notes)) : undefined;
      if (theirs === undefined || theirs === ours || told) continue;
      told = true;
      const configured = ours === undefined ? 'this run has no key' : `the key of this run is ${ours}`;
      stderr(`warning: answers of @${fn} are sealed with the key ${theirs}, and ${configured}; they are not served\n`);
      return;
    }
  };
}

function keyOf(payload: Payload | undefined): string | undefined {
  return payload && 'keyId' in payload ? payload.keyId : undefined;
}

function* sealedResults(memos: readonly Memo[], fn: string): Generator<StoredResult> {
  for (const memo of memos) for (const [, { fn: name, result: answer }] of usable(memo)) if (answer.sealed && name === fn) yield answer;
}
