/**
 * The identity of a call has one number for the attempt of a pipeline that makes it and for the execution of a call that an after-guard
 * requested. instrumentation.md 4.5.
 */
const FIRST = 50;
const NUMBERS = 100;

/** Returns the number of the n-th execution in an attempt. A pipeline numbers its attempts by two digits too, and has none of these. */
export function numberOfExecution(attempt: number, execution: number): number {
  return (attempt - 1) * NUMBERS + FIRST + execution;
}

/** Returns whether the number is that of an execution which an after-guard requested of a call with the number `first`. */
export function isFurtherExecution(number: number, first: number): boolean {
  return number > numberOfExecution(first, 1) && number < first * NUMBERS;
}

/** Names what the number says: `attempt 2`, `execution 3`, `attempt 2, execution 3`. */
export function wordsOfAttempt(number: number): string {
  const execution = (number % NUMBERS) - FIRST;
  if (execution < 1) return `attempt ${number}`;
  const around = Math.floor(number / NUMBERS) + 1;
  return around === 1 ? `execution ${execution}` : `${wordsOfAttempt(around)}, execution ${execution}`;
}
