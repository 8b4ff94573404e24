import { expect, it } from 'vitest';
import type { CallKey, OpPath } from '../../journal/ids.js';
import { UnresolvedInside } from '../../src/calls/unresolved-inside.js';

const KEY = 'sha256:a' as CallKey;
const op = (path: string): OpPath => path as OpPath;

it('counts calls that failed, and those behind the results that are reused', () => {
  const unresolved = new UnresolvedInside();
  unresolved.add(KEY, op('main/whole#0/part#0'), 1);
  unresolved.add('sha256:b' as CallKey, op('main/whole#0/book#0'), 3);
  expect(unresolved.count).toBe(4);
});

it('counts a call no longer that is made again later and has a result', () => {
  const unresolved = new UnresolvedInside();
  unresolved.add(KEY, op('main/whole#0/part#0'), 1);
  unresolved.resolve(KEY, op('main/whole#0/part#1'));
  expect(unresolved.count).toBe(0);
});

it('counts a call although an equal one beside it has a result', () => {
  const unresolved = new UnresolvedInside();
  unresolved.add(KEY, op('main/whole#0/for#0[0]/part#0'), 1);
  unresolved.resolve(KEY, op('main/whole#0/for#0[1]/part#0'));
  expect(unresolved.count).toBe(1);
});

it('counts a call once that is made again later and fails again', () => {
  const unresolved = new UnresolvedInside();
  unresolved.add(KEY, op('main/whole#0/part#0'), 1);
  unresolved.add(KEY, op('main/whole#0/part#1'), 1);
  expect(unresolved.count).toBe(1);
});
