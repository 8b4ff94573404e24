/** Lists show a call by the beginning of its arguments. */
import { expect, it } from 'vitest';
import type { Json } from '../../../journal/event.js';
import { PREVIEW_UNITS_MAX, previewOf } from '../../../replay/fold/preview.js';

const of = (...args: Json[]): string | undefined => previewOf({ inline: args });
const STAGE = { branch: null, visit: 0, attempt: 1, prompt: 'Plan the mole.', model: null, provider: null, effort: 'high' };

it('is the first argument: a text as it is, anything else as JSON in the order of its members', () => {
  expect(of('ebb', 'flow')).toBe('ebb');
  expect(of({ b: [1, null], a: 'x' })).toBe('{"a":"x","b":[1,null]}');
  expect(of()).toBeUndefined();
  expect(of('x'.repeat(1000))).toHaveLength(PREVIEW_UNITS_MAX);
});

it("is the prompt of a pipeline's stage, with or without what is told before it", () => {
  expect(of(STAGE)).toBe('Plan the mole.');
  expect(of({ ...STAGE, carryOver: 'Goal: a mole' })).toBe('Plan the mole.');
});

it('is that prompt behind a restart and in a child pipeline too', () => {
  expect(of({ ...STAGE, restarts: 2, within: 'survey#0/try#1', carryOver: 'Goal: a mole' })).toBe('Plan the mole.');
});

it('is all of an object that only resembles one', () => {
  expect(of({ prompt: 'Plan the mole.' })).toBe('{"prompt":"Plan the mole."}');
  expect(of({ ...STAGE, depth: 3 })).toContain('"depth":3');
});
