import { expect, it } from 'vitest';
import type { CallKey, OpPath } from '../../journal/ids.js';
import { UnresolvedInside } from '../../src/calls/unresolved-inside.js';

const KEY = 'sha256:a' as CallKey;
const WHOLE = op('main/whole#0');

function op(path: string): OpPath {
  return path as OpPath;
}

function failedAt(place: string, around = WHOLE): UnresolvedInside {
  const unresolved = new UnresolvedInside();
  unresolved.addFailed({ key: KEY, op: op(place), around });
  return unresolved;
}

it('counts calls that failed, and those behind the results that are reused', () => {
  const unresolved = failedAt('main/whole#0/part#0');
  unresolved.addIncomplete({ key: 'sha256:b' as CallKey, op: op('main/whole#0/book#0'), calls: 3, around: WHOLE });
  expect(unresolved.count).toBe(4);
});

it('counts a call no longer that is made again later', () => {
  const unresolved = failedAt('main/whole#0/part#0');
  unresolved.makeAgain(KEY, op('main/whole#0/part#1'));
  expect(unresolved.count).toBe(0);
});

it('counts a call although an equal one beside it has a result', () => {
  const unresolved = failedAt('main/whole#0/for#0[0]/part#0');
  unresolved.makeAgain(KEY, op('main/whole#0/for#0[1]/part#0'));
  expect(unresolved.count).toBe(1);
});

it('counts a call once that is made again later and fails again', () => {
  const unresolved = failedAt('main/whole#0/part#0');
  unresolved.addFailed({ key: KEY, op: op('main/whole#0/part#1'), around: WHOLE });
  expect(unresolved.count).toBe(1);
});

it('counts a call inside another one that went on without it, until that one is made again', () => {
  const book = op('main/whole#0/book#0');
  const unresolved = failedAt('main/whole#0/book#0/part#0', book);
  unresolved.makeAgain(KEY, op('main/whole#0/part#0'));
  expect(unresolved.count).toBe(1);
  unresolved.endWithoutResult(book, WHOLE);
  unresolved.makeAgain(KEY, op('main/whole#0/book#1/part#0'));
  expect(unresolved.count).toBe(0);
});

it('counts what an execution of a call came to no longer when the next one begins', () => {
  const unresolved = failedAt('main/whole#0/part#0');
  unresolved.addIncomplete({ key: 'sha256:b' as CallKey, op: op('main/whole#0/book#0'), calls: 3, around: WHOLE });
  unresolved.addFailed({ key: 'sha256:c' as CallKey, op: op('main/whole#0/whole#0/guard:polite#0/part#0'), around: WHOLE });
  unresolved.executeAgain({ op: op('main/whole#0/whole#0'), around: WHOLE });
  expect(unresolved.count).toBe(1);
  unresolved.executeAgain({ op: WHOLE, around: WHOLE });
  expect(unresolved.count).toBe(0);
});

it('counts once what a reused result was made without, however often it is reused', () => {
  const unresolved = new UnresolvedInside();
  for (const place of ['main/whole#0/book#0', 'main/whole#0/book#1'])
    unresolved.addIncomplete({ key: KEY, op: op(place), calls: 3, around: WHOLE });
  expect(unresolved.count).toBe(3);
});
