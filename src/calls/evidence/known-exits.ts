/** Exit statuses that a recognised program is known to use. calls.md 7.6. */
import type { FailureClass } from '../failure.js';
import { classOfCurl } from './words.js';

const GEMINI: { readonly [exitCode: number]: FailureClass } = { 41: 'auth', 53: 'budget' };

/** Undefined for a status that says nothing, and for a program that has none. */
export function classOfExit(program: string | undefined, exitCode: number): FailureClass | undefined {
  if (program === 'gemini') return GEMINI[exitCode];
  return program === 'curl' ? classOfCurl(exitCode) : undefined;
}
