/** A reply is read by a function of the script. calls.md 7.7. */
import { expect, it } from 'vitest';
import { readReply } from '../../src/calls/replies/read-reply.js';
import type { Reply } from '../../src/calls/replies/reply.js';
import { readByFunction, type ReadByFunction } from '../../src/operation/replies/read-by-function.js';
import { annotate, dataOf, labelsOf, type Value } from '../../src/values/value.js';
import { WorldError } from '../../src/world/world.js';

const REPLY: Reply = { stdout: 'out', stderr: 'err', exitCode: 0 };
const warnings: string[] = [];

function read(returned: Value | Error, reply: Partial<Reply> = {}, seen: Value[] = []): Promise<ReadByFunction> {
  const whole = { ...REPLY, ...reply };
  warnings.length = 0;
  return readByFunction(
    {
      name: '@read',
      read: async (value) => {
        seen.push(value);
        if (returned instanceof Error) throw returned;
        return returned;
      },
    },
    { ...whole, durationMs: 5 },
    {
      known: readReply(whole, { adapter: 'text', nowMs: 0 }),
      printed: annotate('out', { labels: ['pii'] }),
      place: { op: {}, isRecorded: false, warn: (_, message) => warnings.push(message) },
      nowMs: 1_000_000,
    },
  );
}

it('gets all that came back, with the labels of what was printed', async () => {
  const seen: Value[] = [];
  await read({ answer: 'x' }, { exitCode: 0 }, seen);
  expect(dataOf(seen[0])).toEqual({ stdout: 'out', stderr: 'err', exitCode: 0, durationMs: 5 });
  expect(labelsOf(seen[0])).toEqual(['pii']);
});

it('says the answer, as text or data, with its usage, model and session', async () => {
  expect((await read({ answer: 'high', usage: { inputTokens: 3, costUsd: 0.5 }, model: 'own', session: 's' })).reply).toEqual({
    adapter: '@read',
    text: 'high',
    usage: { inputTokens: 3, costUsd: 0.5, model: 'own' },
    session: 's',
  });
  expect((await read({ answer: { mark: 3 } })).reply).toEqual({ adapter: '@read', data: { mark: 3 } });
});

it('fails the attempt with a class', async () => {
  const { reply } = await read({ class: 'quota', message: 'used up\nfor today', retryAfterMs: 7, resetsAt: 2_000_000_000 });
  expect(reply.failure).toEqual({
    class: 'quota',
    evidence: 'envelope',
    message: 'used up',
    retryAfterMs: 7,
    resetsAtMs: 2_000_000_000_000,
  });
});

it.each([
  [new WorldError('CODE_THREW', 'no member rest'), '@read: no member rest'],
  ['text', '@read: it returned no object'],
  [{ class: 'tired' }, '@read: there is no class "tired"'],
  [{}, '@read found no answer in the reply'],
  [{ answer: ' ' }, '@read found no answer in the reply'],
])('is a bad reply when it returns %j', async (returned, message) => {
  expect((await read(returned)).reply.failure).toMatchObject({ class: 'bad-reply', message: expect.stringContaining(message) as string });
});

it('does not hide the failure of the program, unless it names a class', async () => {
  const failed = { exitCode: 1, stderr: '503 overloaded' };
  expect((await read({ answer: 'x', usage: { costUsd: 1 } }, failed)).reply).toMatchObject({
    failure: { class: 'overloaded', evidence: 'words' },
    usage: { costUsd: 1 },
  });
  expect((await read(new WorldError('CODE_THREW', 'broken'), failed)).reply.failure?.class).toBe('overloaded');
  expect((await read({ class: 'content' }, failed)).reply.failure?.class).toBe('content');
});

it('warns of what is ignored, and ends with the run', async () => {
  await read({ answer: 'x', usage: { inputTokens: -1 }, session: 5 });
  expect(warnings).toEqual([
    'inputTokens of what @read returned is ignored: it is negative or not a number',
    'session of what @read returned is ignored: it is not a text',
  ]);
  await expect(read(new WorldError('INTERRUPTED', 'the run must stop'))).rejects.toThrow('the run must stop');
});

it('says no reset that is past', async () => {
  const { reply } = await read({ class: 'quota', message: 'used up', resetsAt: 999 });
  expect(reply.failure).toEqual({ class: 'quota', evidence: 'envelope', message: 'used up' });
});
