/** Recognises numbers of further attempts as users write them. calls.md 6.1. */
import { isObject } from '../../journal/json-object.js';
import type { FailureClass } from './failure.js';
import type { Retries } from './options.js';

/** The classes whose number of further attempts may be set. Others are never tried again. */
const RETRIED_CLASSES: readonly FailureClass[] = [
  'rate-limit',
  'overloaded',
  'network',
  'timeout',
  'bad-reply',
  'content',
  'budget',
  'crash',
];

export const RETRIES_WANTED = `a number of further attempts, or one for each class: { "timeout": 1 } (${RETRIED_CLASSES.join(', ')})`;

export function isRetries(value: unknown): value is Retries {
  if (isNumber(value)) return true;
  if (!isObject(value)) return false;
  return Object.entries(value).every(([name, count]) => RETRIED_CLASSES.some((each) => each === name) && isNumber(count));
}

function isNumber(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}
