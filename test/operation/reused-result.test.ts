/** Recorded results by the options of now. calls.md 11.3. */
import { describe, expect, it } from 'vitest';
import { compileSchema } from '../../src/calls/schema/compile-schema.js';
import { mayMisfit, resultNow } from '../../src/operation/replies/reused-result.js';
import type { CachedResult } from '../../src/runtime/calls/result-cache.js';
import { NO_RESULT_LABELS } from '../../src/runtime/calls/result-labels.js';
import { Signal, type Outcome } from '../../src/runtime/completion.js';
import { WorldError } from '../../src/world/world.js';
import { annotate, dataOf, type Value } from '../../src/values/value.js';

const recorded = (value: Outcome, about: Pick<CachedResult, 'isInner'> = {}): CachedResult => ({
  key: 'k' as CachedResult['key'],
  resultLabels: NO_RESULT_LABELS,
  from: { run: 'r', seq: 1 } as never,
  outputs: async () => undefined,
  value: () => value,
  ...about,
});
const ENVELOPE = '{"type":"result","subtype":"success","is_error":false,"result":"high"}';
const INNER = { isInner: true } as const;

/** The value that is reused, or the option that forbids it. */
async function now(known: CachedResult, options: Parameters<typeof resultNow>[1]): Promise<unknown> {
  const found = await resultNow(known, options, { nowMs: 0, place: { op: {}, isRecorded: true, warn: () => undefined } });
  return found.kind === 'fits' ? found.known.value() : found.unfit;
}

describe('a recorded result', () => {
  it('is left alone where no option is about it', async () => {
    expect(mayMisfit({ retries: 3 }, recorded('x'))).toBe(false);
    expect(mayMisfit({}, recorded('x', INNER))).toBe(true);
    const known = recorded('x');
    expect(await resultNow(known, {}, { nowMs: 0 })).toEqual({ kind: 'fits', known });
  });

  it('that is a whole reply goes through the adapter', async () => {
    expect(await now(recorded(ENVELOPE), { reply: 'claude' })).toBe('high');
    expect(await now(recorded('no envelope'), { reply: 'claude' })).toBe('reply');
  });

  it('goes through a function of the script, but not for a plan', async () => {
    const reply = {
      name: '@read' as const,
      read: async (value: Value) => ({ answer: (dataOf(value) as { stdout: string }).stdout.trim() }),
    };
    expect(await now(recorded(' high '), { reply })).toBe('high');
    expect(await now(recorded('high', INNER), { reply })).toBe('high');
    expect(
      await now(recorded(' high '), { reply: { ...reply, read: async () => Promise.reject(new WorldError('CODE_THREW', 'no')) } }),
    ).toBe('reply');
    const known = recorded(' high ');
    expect(await resultNow(known, { reply }, { nowMs: 0 })).toEqual({ kind: 'fits', known });
  });

  it('that was in a reply does not go through it again, and needs the option', async () => {
    expect(await now(recorded('high', INNER), { reply: 'claude' })).toBe('high');
    expect(await now(recorded('high', INNER), {})).toBe('reply');
  });

  it('must fit the schema, as a value or as the text of one', async () => {
    const schema = await compileSchema({ type: 'object', properties: { mark: { maximum: 5 } } });
    expect(await now(recorded({ mark: 2 }), { schema })).toEqual({ mark: 2 });
    expect(await now(recorded('```\n{"mark":2}\n```'), { schema })).toEqual({ mark: 2 });
    expect(await now(recorded(annotate({ mark: 6 }, { text: '{"mark":6}' })), { schema })).toBe('schema');
    const text = await compileSchema({ type: 'string' });
    expect(await now(recorded('4'), { schema: text })).toBe('4');
    expect(await now(recorded(ENVELOPE.replace('high', '{\\"mark\\":9}')), { schema, reply: 'claude' })).toBe('schema');
  });

  it('stays a control word', async () => {
    const word = new Signal('done', 'x', true);
    expect(await now(recorded(word), { reply: 'claude' })).toBe(word);
  });
});
