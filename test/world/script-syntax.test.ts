import { expect, it } from 'vitest';
import { scriptSyntaxError } from '../../src/world/code/script-syntax.js';

it('says the place of an error of syntax, and names no frames', () => {
  const { stackTraceLimit } = Error;
  const error = scriptSyntaxError('const a = 1;\nreturn a', { filename: 'body' });
  expect(error?.message).toBe('Illegal return statement');
  expect(error?.stack).toMatch(/^body:2\nreturn a\n\^+\n\nSyntaxError: Illegal return statement$/);
  expect(Error.stackTraceLimit).toBe(stackTraceLimit);
});

it('finds nothing to say about a script, and does not run it', () => {
  const { stackTraceLimit } = Error;
  expect(scriptSyntaxError('throw new Error("was run")')).toBeUndefined();
  expect(Error.stackTraceLimit).toBe(stackTraceLimit);
});
