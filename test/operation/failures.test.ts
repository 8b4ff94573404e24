import { expect, it } from 'vitest';
import { isAccepted } from '../../src/operation/failures/accepted-failure.js';
import { failuresBefore, notExecuted } from '../../src/operation/failures/not-executed.js';
import type { CacheableCall } from '../../src/operation/cacheable-call.js';
import { callFailureOf } from '../../src/runtime/calls/call-failure.js';
import { CollectedFailures } from '../../src/values/failures.js';
import { errorMarker } from '../../src/values/kinds/marker.js';
import type { FailedCall } from '../../src/values/value.js';

const FAILED: FailedCall = { fn: 'ask', op: 'main/ask#0' as never, class: 'network', message: 'network: reset', attempts: 5, item: 'ebb' };

/** The least of a call that these functions look at. */
function callWith(partial: boolean): CacheableCall {
  const failures = new CollectedFailures();
  failures.begin();
  const marker = errorMarker({ index: 0, key: '0', value: 'ebb', message: FAILED.message, call: FAILED });
  return {
    run: { failures },
    op: { path: 'main/sum#0' },
    operation: { inputs: [[{ all: [marker, marker] }]] },
    llm: { fn: 'sum', options: () => ({ partial }) },
  } as unknown as CacheableCall;
}

it('finds each failed call in the arguments once, and none for a function that takes them', async () => {
  expect(await failuresBefore(callWith(false))).toEqual([FAILED]);
  expect(await failuresBefore(callWith(true))).toEqual([]);
});

it('says which input has no result', () => {
  const error = notExecuted(callWith(false), [FAILED]);
  expect(error.message).toBe('@sum was not executed: 1 of its inputs has no result: @ask("ebb"), network: reset');
  expect(callFailureOf(error)).toMatchObject({ class: 'upstream', fn: 'sum', op: 'main/sum#0', attempts: 0 });
});

it('accepts only failures of calls, and only where the function wants a marker', () => {
  const error = notExecuted(callWith(false), [FAILED]);
  expect([isAccepted(error, { onFailure: 'marker' }), isAccepted(error, {}), isAccepted(new Error('x'), { onFailure: 'marker' })]).toEqual([
    true,
    false,
    false,
  ]);
});
