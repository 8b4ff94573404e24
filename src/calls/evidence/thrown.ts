/** The class of an exception, by its members along its chain of causes. Its words are no evidence. calls.md 4 (rule 6) and 4.1. */
import type { Failure } from '../failure.js';
import { classOfCode, classOfError } from './http-status.js';
import { headersOf } from './headers.js';
import { retryAfterOf } from './times.js';

/** Causes may lead in a circle; no client nests them deeper. */
const CAUSES_MAX = 10;

/** Undefined for an exception that says nothing: it is a crash. `message` is left to the caller. */
export function failureOfThrown(thrown: unknown, nowMs: number): Omit<Failure, 'message'> | undefined {
  let error = thrown;
  for (let depth = 0; depth < CAUSES_MAX && hasMembers(error); depth++, error = memberOf(error, 'cause')) {
    const response = memberOf(error, 'response');
    const status = [memberOf(error, 'status'), memberOf(error, 'statusCode'), memberOf(response, 'status')].find(
      (value) => typeof value === 'number',
    );
    const inner = memberOf(error, 'error');
    const codes = [memberOf(error, 'code'), memberOf(inner, 'code'), memberOf(inner, 'type'), memberOf(error, 'name')];
    if (status !== undefined) codes.push(...codesInBody(memberOf(error, 'message')));
    const failureClass = status === undefined ? codes.map(classOfCode).find((known) => known !== undefined) : classOfError(status, codes);
    if (failureClass === undefined) continue;
    const headers = headersOf(memberOf(error, 'headers')) ?? headersOf(memberOf(response, 'headers'));
    const retryAfterMs = headers && retryAfterOf(headers, nowMs);
    return {
      class: failureClass,
      evidence: 'error',
      ...(status === undefined ? {} : { status }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    };
  }
  return undefined;
}

/** Many clients put the body of the reply in the message, as it came. Its members are no words. */
function codesInBody(message: unknown): readonly unknown[] {
  if (typeof message !== 'string' || !message.startsWith('{')) return [];
  try {
    const inner = memberOf(JSON.parse(message), 'error');
    return [memberOf(inner, 'code'), memberOf(inner, 'type')];
  } catch {
    return [];
  }
}

function hasMembers(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** A getter of a foreign object may throw; then the member is not there. */
function memberOf(value: unknown, name: string): unknown {
  if (!hasMembers(value)) return undefined;
  try {
    return (value as Record<string, unknown>)[name];
  } catch {
    return undefined; // reported as absent: the class must not depend on a getter that fails
  }
}
