/** The ends of calls are found without parsing their lines, as parsing finds them. team-store.md 4.2. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../../journal/canonical.js';
import { encode } from '../../../../journal/codec.js';
import type { EventOf, Fact, Json, JournalEvent } from '../../../../journal/event.js';
import { opPath, seqOf } from '../../../../journal/ids.js';
import { NO_LINES } from '../../../../journal/postgres/lines.js';
import { endsInLines, plainEnds, type Refusals } from '../../../../journal/postgres/claims/results-in-lines.js';
import { callCompleted, callStarted, opStarted, runRef } from '../../support/facts.js';

const BEGINNING = 1000;
const FIRST_SEQ = 40;

interface Lines {
  readonly bytes: Buffer;
  readonly text: string;
  readonly ats: readonly number[];
  readonly events: readonly JournalEvent[];
}

function linesOf(facts: readonly Fact[]): Lines {
  let hash = NO_LINES.hash;
  const texts = facts.map((fact, n) => {
    const line = encode(fact, seqOf(FIRST_SEQ + n), '2026-11-21T08:45:12.123Z', hash);
    hash = line.hash;
    return line.text;
  });
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const bytes = Buffer.from(texts.join(''));
  return {
    bytes,
    text: bytes.toString('latin1', 0, bytes.length - 1),
    ats: lengths.map((_, n) => BEGINNING + lengths.slice(0, n).reduce((sum, length) => sum + length, 0)),
    events: texts.map((text) => JSON.parse(text) as JournalEvent),
  };
}

/** Follows team-store.md 4.2 with events that were parsed. */
function expectedOf({ events, ats, bytes }: Lines): { readonly competing: unknown; readonly failed: unknown; readonly ended: unknown } {
  const refused = new Map<string, EventOf<'call.started'>['refused']>();
  const competing = new Map<number, unknown>();
  const failed = new Map<string, unknown>();
  const ended = new Set<string>();
  events.forEach((event, index) => {
    const at = ats[index] as number;
    const place = { index, seq: event.seq, at, bytes: (ats[index + 1] ?? BEGINNING + bytes.length) - at - 1 };
    if (event.type === 'call.started' && event.refused) refused.set(event.op, event.refused);
    if (event.type === 'call.superseded') competing.delete(event.of);
    const isEnd = event.type === 'call.completed' || (event.type === 'call.failed' && event.retryInMs === undefined);
    if (!isEnd) return;
    ended.add(event.key);
    if (event.type === 'call.completed' && event.unusable === undefined && !('redacted' in event.result)) {
      const replaced = refused.get(event.op);
      competing.set(event.seq, { key: event.key, op: event.op, ...place, ...(replaced && { run: replaced.run, refused: replaced.seq }) });
      failed.delete(event.key);
    } else failed.set(event.key, { key: event.key, ...place });
  });
  return { competing: [...competing.values()], failed: [...failed.values()], ended: [...ended] };
}

const anyCall = fc.integer({ min: 0, max: 4 });
/** Texts that look like the members that are searched for, and names that JSON writes in another way. */
const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('"unusable":', 'redacted":', '\n{"v":1,"seq":1,"type":"call.completed",', 'x'.repeat(2000)),
);
const anyResult: fc.Arbitrary<Json> = fc.oneof(
  anyText,
  anyText.map((text): Json => ({ unusable: text })),
  anyText.map((text): Json => ({ [text]: [text] })),
);
const anyPath = (n: number): fc.Arbitrary<string> => fc.constantFrom(`main/review#${n}`, `main/"é\\"#${n}`, `main/船#${n}`);
const anyFact: fc.Arbitrary<Fact> = anyCall.chain((n) =>
  fc.oneof(
    fc.constant(opStarted(n)),
    anyPath(n).map((op): Fact => ({ ...(callStarted(n) as EventOf<'call.started'>), op: opPath(op) })),
    anyPath(n).map((op): Fact => ({
      ...(callStarted(n) as EventOf<'call.started'>),
      op: opPath(op),
      refused: { run: runRef(9).run, seq: seqOf(3) },
    })),
    fc
      .tuple(anyPath(n), anyResult)
      .map(([op, result]): Fact => ({ ...(callCompleted(n, result) as EventOf<'call.completed'>), op: opPath(op) })),
    anyText.map((unusable): Fact => ({ ...(callCompleted(n) as EventOf<'call.completed'>), unusable })),
    fc.constant<Fact>({ ...(callCompleted(n) as EventOf<'call.completed'>), result: { redacted: 'secret', sha256: sha256('x') } as never }),
    fc.option(fc.nat(), { nil: undefined }).map((retryInMs): Fact => ({
      type: 'call.failed',
      key: sha256(`key ${n}`),
      op: opPath(`main/review#${n}`),
      message: 'no',
      elapsedMs: 1,
      ...(retryInMs !== undefined && { retryInMs }),
    })),
    fc.nat({ max: 12 }).map((of): Fact => ({
      type: 'call.superseded',
      key: sha256(`key ${n}`),
      op: opPath(`main/review#${n}`),
      of: seqOf(FIRST_SEQ + of),
      by: { run: runRef(9).run, seq: seqOf(2) },
    })),
  ),
);

describe('ends of calls in the lines of a turn', () => {
  it('are those that parsing each line finds', () => {
    fc.assert(
      fc.property(fc.array(anyFact, { minLength: 1, maxLength: 12 }), (facts) => {
        const lines = linesOf(facts);
        const refusals: Refusals = new Map();
        const { results, failed, ended } = endsInLines(lines.bytes, lines.text, lines.ats, refusals);
        expect({ competing: results, failed, ended }).toEqual(expectedOf(lines));
      }),
      { numRuns: 2000 },
    );
  });

  it('are plain when each call has one result that replaces none', () => {
    const endsOf = (...facts: readonly Fact[]): ReturnType<typeof plainEnds> => {
      const { bytes, text, ats } = linesOf(facts);
      return plainEnds(endsInLines(bytes, text, ats, new Map()));
    };
    const ended = [sha256('key 1'), sha256('key 2')];
    expect(endsOf(callStarted(1), callCompleted(1), opStarted(1), callCompleted(2))).toEqual({ results: '[1,3]', ended });
    expect(endsOf(callCompleted(1), callCompleted(1))).toBeUndefined();
    expect(endsOf(opStarted(1))).toBeUndefined();
    const failed: Fact = { type: 'call.failed', key: sha256('key 2'), op: opPath('main/review#2'), message: 'no', elapsedMs: 1 };
    expect(endsOf(callCompleted(1), failed)).toBeUndefined();
    const again: Fact = { ...(callStarted(1) as EventOf<'call.started'>), refused: { run: runRef(9).run, seq: seqOf(3) } };
    expect(endsOf(again, callCompleted(1))).toBeUndefined();
    const late = { type: 'call.superseded', of: seqOf(FIRST_SEQ), by: { run: runRef(9).run, seq: seqOf(2) } } as const;
    const superseded: Fact = { ...late, key: sha256('key 1'), op: opPath('main/review#1') };
    expect(endsOf(callCompleted(1), superseded, callCompleted(2), callCompleted(2))).toBeUndefined();
  });
});
