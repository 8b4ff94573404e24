/** Implements `==` and `~=` (values.md 9.4 and 9.6). */
import { type Data, dataOf, type Value } from './value.js';
import { toNumber } from './numbers.js';

/** Is symmetric; objects are equal only to themselves. */
export function looseEquals(a: Value, b: Value): boolean {
  const left = dataOf(a) ?? null;
  const right = dataOf(b) ?? null;
  if (left === right) return true;
  if (left === null || right === null) return false;
  if (typeof left === 'string') return textEquals(left, right);
  if (typeof right === 'string') return textEquals(right, left);
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((element, i) => looseEquals(element, right[i]));
  }
  return false;
}

function textEquals(text: string, other: Data): boolean {
  if (typeof other === 'number') return toNumber(text) === other;
  return typeof other === 'boolean' && text === String(other);
}

/** `actual ~= expected`: every actual item matches an expected one of its own. */
export function tolerantMatch(actualValue: Value, expectedValue: Value): boolean {
  const actual = dataOf(actualValue) ?? null;
  const expected = dataOf(expectedValue) ?? null;
  const nothingExpected = isNothing(expected);
  if (nothingExpected || isNothing(actual)) return nothingExpected && isNothing(actual);
  const items = itemsOf(actual);
  const candidates = itemsOf(expected);
  if (isScalar(actual) || isScalar(expected)) {
    return items.length === 1 && candidates.length === 1 && itemsMatch(items[0], candidates[0]);
  }
  return canPair(items, candidates);
}

function isNothing(data: Data): boolean {
  return data === null || data === 'null' || (Array.isArray(data) && data.length === 0);
}

/** True for a number or boolean, which is not a list of its own (rule 3), as objects are not. */
function isScalar(data: Data): boolean {
  return typeof data !== 'string' && !Array.isArray(data);
}

function itemsOf(data: Data): readonly Value[] {
  if (typeof data === 'string') return data.includes(',') ? data.split(',').map((item) => item.trim()) : [data];
  return Array.isArray(data) ? data : [data];
}

function itemsMatch(a: Value, b: Value): boolean {
  const left = dataOf(a);
  const right = dataOf(b);
  if (left === right) return true;
  if (typeof left === 'number' && typeof right === 'string') return right.trim() !== '' && Number(right) === left;
  return typeof left === 'string' && typeof right === 'number' && itemsMatch(right, left);
}

/**
 * Gives every item a candidate of its own, moving earlier choices where that helps: a first-come choice would let
 * the number 1 take the text "1" and leave the text "1" with nothing but "1.0".
 */
function canPair(items: readonly Value[], candidates: readonly Value[]): boolean {
  if (items.length > candidates.length) return false;
  const takenBy: number[] = Array.from(candidates, () => -1);
  const place = (item: number, visited: Set<number>): boolean =>
    candidates.some((candidate, i) => {
      if (visited.has(i) || !itemsMatch(items[item], candidate)) return false;
      visited.add(i);
      const holder = takenBy[i] ?? -1;
      if (holder !== -1 && !place(holder, visited)) return false;
      takenBy[i] = item;
      return true;
    });
  return items.every((_, item) => place(item, new Set()));
}
