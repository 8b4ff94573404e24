/** Members of an exception and of its causes are evidence; its words are none. calls.md 4. */
import { expect, it } from 'vitest';

import { failureOfThrown } from '../../src/calls/evidence/thrown.js';

const NOW_MS = Date.parse('2026-03-01T12:00:00Z');

it.each([
  ['a status', Object.assign(new Error('x'), { status: 429 }), { class: 'rate-limit', status: 429 }],
  [
    'a status of a response, and its headers',
    { response: { status: 503, headers: { 'Retry-After': '2' } } },
    { class: 'overloaded', retryAfterMs: 2_000 },
  ],
  [
    'a date to wait for',
    { status: 429, headers: new Headers({ 'retry-after': 'Sun, 01 Mar 2026 12:00:30 GMT' }) },
    { class: 'rate-limit', retryAfterMs: 30_000 },
  ],
  [
    'a code of the system, below a cause',
    new Error('fetch failed', { cause: Object.assign(new Error(''), { code: 'ECONNRESET' }) }),
    { class: 'network' },
  ],
  ['a code of undici', { code: 'UND_ERR_SOCKET' }, { class: 'network' }],
  ['a name', Object.assign(new Error(''), { name: 'TimeoutError' }), { class: 'timeout' }],
  [
    'a type of the provider, which is more exact than its status',
    { status: 429, error: { type: 'insufficient_quota' } },
    { class: 'quota' },
  ],
  [
    'the body of the reply, where a client made it the message',
    Object.assign(new Error('{"error":{"message":"no","type":"x","code":"insufficient_quota"}}'), { status: 429 }),
    { class: 'quota' },
  ],
])('reads %s', (_, thrown, failure) => {
  expect(failureOfThrown(thrown, NOW_MS)).toMatchObject({ ...failure, evidence: 'error' });
});

it.each([
  ['words', new Error('rate limit exceeded, 429, quota')],
  ['a body without a status', new Error('{"error":{"code":"insufficient_quota"}}')],
  ['a text', '429'],
  ['nothing', undefined],
  ['a status that is no failure', { status: 200 }],
])('says nothing for %s', (_, thrown) => {
  expect(failureOfThrown(thrown, NOW_MS)).toBeUndefined();
});

it('comes to an end where causes lead in a circle, and where a getter throws', () => {
  const circle: { cause?: unknown } = {};
  circle.cause = circle;
  expect(failureOfThrown(circle, NOW_MS)).toBeUndefined();
  const trap = Object.defineProperty({}, 'status', { get: () => expect.unreachable() });
  expect(failureOfThrown(Object.assign(trap, { code: 'EPIPE' }), NOW_MS)).toMatchObject({ class: 'network' });
});
