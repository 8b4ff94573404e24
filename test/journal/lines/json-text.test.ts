/** Long texts are written as `JSON.stringify` writes them. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { bodyOf, CHAIN_SEED, encode } from '../../../journal/codec.js';
import type { Fact } from '../../../journal/event.js';
import { seqOf } from '../../../journal/ids.js';
import { LineQueue } from '../../../journal/lines/line-queue.js';
import { jsonText } from '../../../journal/lines/json-text.js';
import { callCompleted } from '../support/facts.js';

const unit = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('a word ', 'Zeile\n', 'é', '– ', '\u2028', '\u007f') },
  { weight: 1, arbitrary: fc.constantFrom('"', '\\', '\n\n', '\t', '\r', '\u0000', '\u001f', '🚀', '\ud83d', '\ude80') },
);
const text = fc.array(unit, { maxLength: 40 }).map((units) => units.join(''));

it('takes the place of JSON.stringify for every text', () => {
  fc.assert(
    fc.property(fc.oneof(text, fc.string({ unit: 'binary' })), (each) => {
      expect(jsonText(each)).toBe(JSON.stringify(each));
    }),
    { numRuns: 2000 },
  );
  for (let code = 0; code <= 0xffff; code++) {
    const each = `a${String.fromCharCode(code)}b`;
    if (jsonText(each) !== JSON.stringify(each)) expect(jsonText(each)).toBe(JSON.stringify(each));
  }
});

it('makes the same line of a long result, whatever stands around it', () => {
  const anyMembers = fc.record(
    {
      elapsedMs: fc.constant(3),
      form: fc.constant('text'),
      notes: fc.constantFrom({ blob: `sha256:${'a'.repeat(64)}`, bytes: 9000 }, { inline: { result: { inline: '' } } }),
      usage: fc.constantFrom({ model: '"result":{"inline":"' }, { model: 'größer…' }),
      session: fc.constantFrom('"result":{"inline":"', 'ключ 🚀'),
    },
    { requiredKeys: [] },
  );
  const later = fc.constantFrom({}, {}, { ofALaterVersion: true });
  const lengths = fc.oneof(fc.nat({ max: 1200 }), fc.constant(1200));
  const ts = '2026-11-21T08:45:12.123Z';
  fc.assert(
    fc.property(text, lengths, anyMembers, anyMembers, later, (part, length, before, behind, further) => {
      const { key, type, op } = callCompleted(1) as Extract<Fact, { type: 'call.completed' }>;
      const result = { inline: part + 'x'.repeat(length), ...further };
      const fact = { type, key, op, ...before, result, ...behind };
      const version = /"blob":/.test(JSON.stringify(fact)) ? 2 : 1;
      const expected = `{"v":${version},"seq":7,${JSON.stringify(fact).slice(1, -1)},"ts":"${ts}","hash":"`;
      const line = encode(fact as Fact, seqOf(7), ts, CHAIN_SEED);
      expect(line.text.slice(0, expected.length)).toBe(expected);
      const queue = new LineQueue();
      expect(queue.add(bodyOf(fact as Fact, seqOf(7), ts))).toBe(Buffer.byteLength(line.text));
      expect(Buffer.from(queue.take()).toString()).toBe(line.text);
    }),
    { numRuns: 500 },
  );
});
