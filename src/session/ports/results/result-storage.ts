/**
 * Stores what goes into calls and comes back from them, for the facts that name it. A payload that can't be stored fails no call: it is
 * reported, and recorded as missing.
 */
import { isTooDeep, jsonSize } from '../../../../journal/canonical.js';
import { isOfStore, isUnreachable } from '../../../../journal/errors.js';
import type { Json, Payload } from '../../../../journal/event.js';
import { sealedInLine } from '../../../../journal/secrets/payload-store.js';
import { digestingSecrets, KEY_BYTES, type Secrets } from '../../../../journal/secrets/sealing.js';
import type { JournalStore } from '../../../../journal/store.js';
import type { ResultCache } from '../../../runtime/calls/result-cache.js';
import { randomKey } from '../../../world/host.js';

/** A larger result would not fit into a line. */
const SPILLED_BYTES_MAX = 32 * 1024 * 1024;

export interface StoragePorts {
  readonly store: JournalStore;
  /** The same store, which waits for a disk that takes nothing: used for what was paid for. */
  readonly retrying: JournalStore;
  /** The store of a team, which is waited for until the run must stop: used for texts that workers need, and for what the script saw. */
  readonly patient?: JournalStore | undefined;
  /** Undefined when nothing was recorded with a key yet. */
  readonly secrets: Secrets | undefined;
  readonly onTrouble: (error: Error) => void;
  /** Called when something could not be stored that no result depends on. */
  readonly onGap: (error: Error) => void;
}

export interface ResultStorage extends Pick<ResultCache, 'payload' | 'secretPayload' | 'secretKeys' | 'digest' | 'newBlob' | 'keepText'> {
  /** Undefined while nothing was recorded with a key. */
  knownSecrets(): Secrets | undefined;
}

export function createResultStorage({ store, retrying, patient, secrets: recorded, onTrouble, onGap }: StoragePorts): ResultStorage {
  let secrets = recorded;
  const keys = async (): Promise<Secrets> => {
    secrets ??= await store.secrets().catch((error: unknown) => {
      onTrouble(error as Error);
      return digestingSecrets(randomKey(KEY_BYTES)); // no later run finds anything by this key, and nothing leaks
    });
    return secrets;
  };
  const notStored = (error: unknown, isPaid: boolean): Payload => {
    if (isPaid || isTooDeep(error)) onTrouble(error as Error);
    else onGap(error as Error);
    return { redacted: isTooDeep(error) ? 'it is nested too deeply' : 'it could not be stored' };
  };
  /**
   * A store of a team that takes no blob, because it is away for too long or refuses it, may take lines, and its spill does. So a paid
   * payload goes into its line, and one that the script saw (team-store.md 15, I7).
   */
  const kept = (value: Json, error: unknown, isPaid: boolean): Payload => {
    if (!isOfStore(error) || jsonSize(value) > SPILLED_BYTES_MAX) return notStored(error, isPaid);
    if (isPaid) onTrouble(error as Error); // no further call begins
    return { inline: value };
  };
  /** As `kept`. Sealed it is no secret in a line either; in base64 it takes a third more. */
  const keptSealed = async (value: Json, about: string, error: unknown, isPaid: boolean): Promise<Payload> => {
    if (!isOfStore(error) || jsonSize(value) > (SPILLED_BYTES_MAX * 3) / 4) return notStored(error, isPaid);
    const sealed = await store.secrets().then(
      (known) => sealedInLine(known, value, about),
      () => undefined, // `error` is reported, and is the same outage
    );
    if (sealed && isPaid) onTrouble(error as Error); // no further call begins
    return sealed ?? notStored(error, isPaid);
  };
  /** A paid payload has been waited for already. */
  const whenBack = <T>(error: unknown, isPaid: boolean, work: (store: JournalStore) => T | Promise<T>): T | Promise<T> => {
    if (patient === undefined || isPaid || !isUnreachable(error)) throw error;
    return work(patient);
  };
  return {
    knownSecrets: () => secrets,
    payload(value, { isPaid = false, mayContinue = isPaid, answers } = {}) {
      try {
        const stored = (isPaid ? retrying : store).payload(value, { mayContinue, answers });
        if (!(stored instanceof Promise)) return stored;
        return stored
          .catch((error: unknown) => whenBack(error, isPaid, (waiting) => waiting.payload(value)))
          .catch((error: unknown) => kept(value, error, isPaid));
      } catch (error) {
        return notStored(error, isPaid);
      }
    },
    secretPayload: (value, about, isPaid = false) =>
      (isPaid ? retrying : store)
        .secretPayload(value, about)
        .catch((error: unknown) => whenBack(error, isPaid, (waiting) => waiting.secretPayload(value, about)))
        .catch((error: unknown) => keptSealed(value, about, error, isPaid)),
    secretKeys: async () => (await keys()).callKey,
    digest: async (text) => (await keys()).digest(text),
    newBlob: () => store.newBlob(),
    async keepText(text) {
      try {
        const put = store.putBlob(text).catch((error: unknown) => whenBack(error, false, (waiting) => waiting.putBlob(text)));
        return (await put).blob;
      } catch (error) {
        onGap(error as Error);
        return undefined;
      }
    },
  };
}
