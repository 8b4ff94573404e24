/**
 * Finds the failed calls that a value has in it, so that no call pays for them. calls.md 5.3.
 *
 * FAILURES-1 Nothing is searched while the run has no failed call that a construct made a marker of.
 * FAILURES-2 A failure is in a marker, in what holds one, and in text, data and sums that the language made of such a value
 *    (`Metadata.failures`). It is not in what code or a command returned: results begin without this metadata.
 * FAILURES-3 Each list and object is searched once, because values are never changed in place (VALUE-2).
 * FAILURES-4 A member that a marker lacks would be one of the result that the call did not give: it is null with the failure in it.
 */
import { isErrorMarker, markedCall } from './kinds/marker.js';
import { annotate, Annotated, dataOf, LazyData, type FailedCall, type Metadata, type Value } from './value.js';

const NONE: readonly FailedCall[] = [];

export class CollectedFailures {
  private hasSome = false;
  private readonly searched = new WeakMap<object, readonly FailedCall[]>();

  /** Called before a marker of a failed call is seen by a script. */
  begin(): void {
    this.hasSome = true;
  }

  get isEmpty(): boolean {
    return !this.hasSome;
  }

  /** Returns each failed call once. */
  in(values: readonly Value[]): readonly FailedCall[] {
    if (this.isEmpty) return NONE; // FAILURES-1
    return values.reduce((found: readonly FailedCall[], value) => merged(found, this.search(value)), NONE);
  }

  /** Returns text or data with the failures of the values that the language made it of; numbers and truth values have none in them. */
  carry(result: Value, from: readonly Value[]): Value {
    return canHold(result) ? this.carryAll(result, from) : result;
  }

  /** As `carry`, also for the number that was computed of them: it is NaN, which a call would get as null. */
  carryAll(result: Value, from: readonly Value[]): Value {
    if (this.isEmpty) return result;
    const found = this.in(from);
    return found.length === 0 || this.in([result]).length >= found.length ? result : withFailures(result, found);
  }

  private search(value: Value): readonly FailedCall[] {
    if (value instanceof LazyData) return NONE; // results that are recorded have no failure in them
    const own = value instanceof Annotated ? (value.metadata.failures ?? NONE) : NONE;
    const data = dataOf(value);
    return typeof data === 'object' && data !== null ? merged(own, this.searchMembers(data)) : own;
  }

  /** FAILURES-3 */
  private searchMembers(data: object): readonly FailedCall[] {
    const known = this.searched.get(data);
    if (known) return known;
    const all = new Set(own(data));
    for (const member of this.membersOf(data)) for (const call of this.search(member)) all.add(call);
    const found = all.size === 0 ? NONE : [...all];
    this.searched.set(data, found);
    return found;
  }

  /** The members of a marker say what failed; what is made of them deals with the failure. */
  private membersOf(data: object): readonly Value[] {
    if (Array.isArray(data)) return data as readonly Value[];
    return Object.getPrototypeOf(data) === Object.prototype && !isErrorMarker(data as Value) ? (Object.values(data) as Value[]) : [];
  }
}

/** Returns a part of `whole`, or another view of it, which has the failures in it that the whole was made of. */
export function partOf(part: Value, whole: Value): Value {
  const failures = whole instanceof Annotated ? whole.metadata.failures : undefined;
  return failures === undefined || !(canHold(part) || dataOf(part) === null) ? part : withFailures(part, failures);
}

/** Returns the null that a member is which the marker of a failed call lacks; undefined for everything else. FAILURES-4 */
export function missingMember(base: Value, name: string): Value {
  const data = dataOf(base);
  if (typeof data !== 'object' || data === null || Object.hasOwn(data, name)) return undefined;
  const call = markedCall(data);
  return call && annotate(null, { failures: [call] });
}

function withFailures(value: Value, failures: readonly FailedCall[]): Value {
  if (!(value instanceof Annotated)) return annotate(value, { failures });
  const metadata: Metadata = { ...value.metadata, failures: merged(value.metadata.failures ?? NONE, failures) };
  return value.withMetadata(metadata);
}

function canHold(value: Value): boolean {
  const data = dataOf(value);
  return typeof data === 'string' || (typeof data === 'object' && data !== null);
}

function own(data: object): readonly FailedCall[] {
  const call = markedCall(data);
  return call ? [call] : NONE;
}

function merged(first: readonly FailedCall[], second: readonly FailedCall[]): readonly FailedCall[] {
  if (second.length === 0 || first === second) return first;
  if (first.length === 0) return second;
  const all = new Set([...first, ...second]);
  return all.size === first.length ? first : [...all];
}
