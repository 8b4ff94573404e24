/**
 * Facts that a program which embeds mlld records in a run of its own.
 *
 * OWN-1 A type is `app.<namespace>.<name>`. No version of mlld gives such a type a meaning.
 * OWN-2 The data is one payload, so that it is sealed, redacted, bundled and searched for blobs like that of any other event.
 * OWN-3 `isKnownType` is false for it, so every program, older ones included, treats it as an event whose meaning is unknown: folds skip
 *    it, the chain covers it, and `journal gc` and `checkpoint clean` leave its run alone.
 */
import type { JournalEvent, Payload } from './event.js';

export type OwnType = `app.${string}.${string}`;

/** A type and no interface: the codec looks at it as an object of any members. */
export type OwnFact = {
  readonly type: OwnType;
  readonly data: Payload;
};

/** An own fact with its place in the run. */
export type OwnEvent = OwnFact & Pick<JournalEvent, 'v' | 'seq' | 'ts' | 'hash' | 'redacted' | 'tombstone'>;

const OWN_TYPE = /^app(\.[a-z][a-z0-9_-]{0,63}){2,4}$/;

export function isOwnType(type: string): type is OwnType {
  return OWN_TYPE.test(type);
}

/** Returns the event where it is an own fact. Its type does not have it: `JournalEvent` lists the types that mlld knows. */
export function ownEventOf(event: JournalEvent): OwnEvent | undefined {
  const decoded: { readonly type: string; readonly data?: unknown } = event;
  const isOwn = isOwnType(decoded.type) && typeof decoded.data === 'object' && decoded.data !== null;
  return isOwn ? (decoded as OwnEvent) : undefined;
}
