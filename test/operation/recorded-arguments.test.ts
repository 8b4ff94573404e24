/** The arguments of a call in the journal, of its own attempts and of one at a worker. CACHE-5. */
import { expect, it } from 'vitest';
import type { Fingerprint } from '../../journal/ids.js';
import type { CacheableCall } from '../../src/operation/cacheable-call.js';
import { recordedArguments } from '../../src/operation/recorded-arguments.js';
import { callKey } from '../../src/runtime/calls/call-key.js';
import { bareRun } from '../support/bare-run.js';

it.each([
  { hasSecret: false, expected: { inline: ['tide'] } },
  { hasSecret: true, expected: { digest: expect.not.stringContaining('tide') as string } },
])('are recorded as they are, or as a digest where a secret is among them ($hasSecret)', async ({ hasSecret, expected }) => {
  const { run } = bareRun();
  const request = { fn: 'ask', args: ['tide'] };
  const key = callKey(request);
  const definition = { fingerprint: 'f1' as Fingerprint, parts: [] };
  const call = { run } as Pick<CacheableCall, 'run'> as CacheableCall; // nothing else of it is read
  expect(await recordedArguments(call, { key, plainKey: key, hasSecret, definition, request })).toEqual(expected);
});
