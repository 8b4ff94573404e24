/** The rules at the head of `replay/reports/diff/align.ts`, over calls that resemble each other in every way there is. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { opPath, seqOf } from '../../../journal/ids.js';
import { align, type Alignment } from '../../../replay/reports/diff/align.js';
import type { ComparedCall } from '../../../replay/reports/diff/run-calls.js';
import { callKeyOf } from '../../support/written-runs.js';

/** Few places and few arguments, nearly alike: most calls have several candidates. */
const anyQuestion = fc.record({
  loop: fc.constantFrom('', 'for#0[0]/', 'for#0[1]/', 'for#1[0]/'),
  fn: fc.constantFrom('ask', 'tell'),
  ordinal: fc.nat(3),
  text: fc
    .tuple(
      fc.constantFrom('the tide', 'the ebb', 'a gale'),
      fc.constantFrom('at the mole', 'at the pier'),
      fc.constantFrom('', ' at noon', ' tomorrow'),
    )
    .map(([what, where, when]) => `${what} ${where}${when}`),
});

const anyCalls = fc
  .uniqueArray(anyQuestion, { maxLength: 12, selector: ({ loop, fn, ordinal }) => `${loop}${fn}#${ordinal}` })
  .map((questions) =>
    questions.map(({ loop, fn, ordinal, text }, seq): ComparedCall => ({
      seq: seqOf(seq),
      op: opPath(`main/${loop}${fn}#${ordinal}`),
      fn,
      key: callKeyOf(`${fn} ${text}`),
      fingerprint: undefined,
      preview: text,
      outcome: 'executed',
      cause: undefined,
      digest: undefined,
      resultFrom: undefined,
      started: undefined,
      ended: undefined,
    })),
  );

const nameOf = ({ op }: ComparedCall): string => op;
const named = ({ pairs, onlyLeft, onlyRight }: Alignment) => ({
  pairs: pairs.map(({ left, right }) => [nameOf(left), nameOf(right)] as const),
  onlyLeft: onlyLeft.map(nameOf),
  onlyRight: onlyRight.map(nameOf),
});
const byName = (one: readonly string[], other: readonly string[]): number => (one.join() < other.join() ? -1 : 1);

it('ALIGN-2: exchanging the runs exchanges the sides and nothing else', () => {
  fc.assert(
    fc.property(anyCalls, anyCalls, (one, other) => {
      const [there, back] = [named(align(one, other)), named(align(other, one))];
      expect(back.pairs.map(([left, right]) => [right, left]).sort(byName)).toEqual([...there.pairs].map((pair) => [...pair]).sort(byName));
      expect({ left: back.onlyRight, right: back.onlyLeft }).toEqual({ left: there.onlyLeft, right: there.onlyRight });
    }),
    { numRuns: 2000 },
  );
});

it('ALIGN-3: every call is in exactly one pair, or alone', () => {
  fc.assert(
    fc.property(anyCalls, anyCalls, (one, other) => {
      const { pairs, onlyLeft, onlyRight } = named(align(one, other));
      expect([...pairs.map(([left]) => left), ...onlyLeft].sort()).toEqual(one.map(nameOf).sort());
      expect([...pairs.map(([, right]) => right), ...onlyRight].sort()).toEqual(other.map(nameOf).sort());
    }),
    { numRuns: 1000 },
  );
});

it('ALIGN-1: a call and itself are a pair, whatever else is there', () => {
  fc.assert(
    fc.property(anyCalls, (calls) => {
      for (const { left, right } of align(calls, calls.toReversed()).pairs) expect(right).toBe(left);
    }),
  );
});
