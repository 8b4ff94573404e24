import { expect, it } from 'vitest';
import { shortened } from '../../src/values/shortened.js';

it.each([
  ['high water', 10, 'high water'],
  ['high water', 9, 'high wat…'],
  ['🐦🐦🐦', 6, '🐦🐦🐦'],
  ['🐦🐦🐦', 4, '🐦…'],
  ['a👩‍👩‍👧 and others', 7, 'a…'],
])('cuts %j to %i units as %j: never inside a character', (text, units, expected) => {
  expect(shortened(text, units)).toBe(expected);
});
