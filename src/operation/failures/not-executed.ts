/** Fails a call whose arguments have a failed call in them: it is not executed. calls.md 5.3. */
import type { FactOf } from '../../../journal/event.js';
import type { CallKey } from '../../../journal/ids.js';
import { wordsOfClass } from '../../calls/failure.js';
import { MlldError } from '../../errors.js';
import { markCallFailure, namedFailure } from '../../runtime/calls/call-failure.js';
import type { FailedCall } from '../../values/value.js';
import type { CacheableCall, CallIdentity } from '../cacheable-call.js';
import { itemOf } from '../attempts/failed-attempt.js';
import { countedKey } from './unrecorded-attempts.js';

/** The most paths that the journal names, of thousands of failures in one text. */
const PATHS_MAX = 100;

/** Returns the failed calls for which this call is not executed; none where its function takes failures (`partial`). */
export async function failuresBefore({ run, operation, llm }: CacheableCall): Promise<readonly FailedCall[]> {
  const found = run.failures.in(operation.inputs);
  if (found.length === 0) return found;
  return (await llm.options(operation.inputs)).partial === true ? [] : found;
}

export function notExecuted({ op, llm, operation }: CacheableCall, failures: readonly FailedCall[]): MlldError {
  const [first] = failures as readonly [FailedCall];
  const without = `${failures.length} of its inputs ${failures.length === 1 ? 'has' : 'have'} no result`;
  const message = `${without}: ${failures.length === 1 ? '' : 'first '}${namedFailure(first)}`;
  return markCallFailure(
    new MlldError('CALL_NOT_EXECUTED', `@${llm.fn} was not executed: ${message}`, {
      hint: 'leave failed elements out: for @x in @list when !@x.mx.failed => @x; with { partial: true } the function takes them',
    }),
    {
      fn: llm.fn,
      op: op.path,
      class: 'upstream',
      attempts: 0,
      message: `${wordsOfClass('upstream')}: ${message}`,
      item: itemOf(operation.inputs),
    },
  );
}

/** Records it without a `call.started`, because there was no attempt. */
export async function recordNotExecuted(
  call: CacheableCall,
  { key }: Pick<CallIdentity, 'key'>,
  failures: readonly FailedCall[],
  error: Error,
): Promise<void> {
  await call.run.recorder.append(factOf(call, key, failures, error));
}

/** As `recordNotExecuted`, where nothing is recorded. */
export async function countNotExecuted(call: CacheableCall, failures: readonly FailedCall[], error: Error): Promise<void> {
  call.run.recorder.count?.(factOf(call, await countedKey(call), failures, error));
}

function factOf({ run, op, llm }: CacheableCall, key: CallKey, failures: readonly FailedCall[], error: Error): FactOf<'call.failed'> {
  const upstream = failures.slice(0, PATHS_MAX).map((call) => call.op);
  const message = run.secrets.messageOf(error);
  return { type: 'call.failed', key, op: op.path, fn: llm.fn, message, elapsedMs: 0, class: 'upstream', evidence: 'none', upstream };
}
