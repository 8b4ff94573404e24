/** A state for each call: a `Map`, or one that is read from an index as it is needed (`tiers/tiered-map.ts`). */
import type { CallKey } from '../../journal/ids.js';

export interface KeyedStates<State> extends Iterable<[CallKey, State]> {
  get(key: CallKey): State | undefined;
  has(key: CallKey): boolean;
  set(key: CallKey, state: State): unknown;
  delete(key: CallKey): boolean;
  clear(): void;
  /** This and the members below read all of an index. */
  readonly size: number;
  keys(): Iterable<CallKey>;
  values(): Iterable<State>;
}
