/**
 * Lifts an event of an older version to the current one while it is read, so that no fold ever sees two shapes. Each step turns
 * version n into n + 1; when `JOURNAL_VERSION` rises, its step is added here and the old shape is written nowhere any more.
 */
import { JOURNAL_VERSION, PACKED_VERSION, type JournalEvent } from './event.js';

/** An event as it was parsed, of any version. */
export type AnyEvent = { readonly v: number; readonly [member: string]: unknown };
/** Lifts an event from one version to the next; sets `v` itself. */
export type Step = (event: AnyEvent) => AnyEvent;
export type Steps = { readonly [fromVersion: number]: Step };

const FIRST_VERSION = 1;
const STEPS: Steps = {};

export function isKnownVersion(version: number): boolean {
  return version >= FIRST_VERSION && version <= PACKED_VERSION;
}

export function upcast(event: AnyEvent): JournalEvent {
  // The chain proves that this program wrote it, and the steps are typed; the members of each type are not checked again.
  return (event.v === JOURNAL_VERSION || event.v === PACKED_VERSION
    ? event
    : climb(event, STEPS, JOURNAL_VERSION)) as unknown as JournalEvent;
}

export function climb(event: AnyEvent, steps: Steps, target: number): AnyEvent {
  let current = event;
  while (current.v !== target) {
    const step = steps[current.v];
    if (!step) throw new Error(`no step lifts a journal event of version ${current.v} to ${target}`);
    current = step(current);
  }
  return current;
}
