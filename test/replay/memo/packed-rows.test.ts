/** The rows of an index hold what previews have in common once, and keys as bytes. */
import { expect, it } from 'vitest';

import { sha256 } from '../../../journal/canonical.js';
import type { CallKey } from '../../../journal/ids.js';
import { packRows, unpackKeys, type PackedRows } from '../../../replay/memo/packed/packed-rows.js';
import { PackedReader, unpackRows } from '../../../replay/memo/packed/packed-reader.js';
import { ENTRY } from './tiers/support.js';

const LONG_A = 'The captain asks for the soundings of the northern channel.';
const LONG_B = 'A pilot reports that the outer buoy has left its place.';

function unpackedPreviews(previews: readonly (string | undefined)[]): (string | undefined)[] {
  const packed = packRows(previews.map((preview, i) => ({ key: `k${i}` as CallKey, entry: { ...ENTRY, preview } })));
  const found: (string | undefined)[] = [];
  const read = JSON.parse(JSON.stringify(packed)) as PackedRows;
  unpackRows(new PackedReader(read, [[]]), unpackKeys(read), (_key, entry) => void found.push(entry?.preview));
  return found;
}

it.each([
  ['begin alike', ['Review file 9', 'Review file 10', 'Review file 11', 'Review']],
  ['begin each with the one before', ['a', 'ab', 'abc', 'abc', '']],
  ['part inside a character of two units', ['item \u{1F600}', 'item \u{1F601}', 'item \u{1F600}']],
  ['end alike', ['file 9 of the ledger', 'file 10 of the ledger', 'file 11 of the ledger', 'ledger']],
  ['repeat themselves', ['aaa', 'aaaa', 'aa', 'aaaaaa', 'abaaba', 'aba']],
  ['are missing in between', [undefined, 'Review file 1', undefined, 'Review file 2', 'other', undefined]],
  ['are none', [undefined, undefined]],
  ['come in turns', [LONG_A, LONG_B, undefined, LONG_A, `${LONG_A} and more`, LONG_B, 'short', LONG_A, LONG_A, LONG_B]],
])('reads previews back that %s', (_how, previews) => {
  expect(unpackedPreviews(previews)).toEqual(previews);
});

it('writes what previews have in common once', () => {
  const prompt = 'Review this file of the fleet ledger and list every defect: number ';
  const rows = Array.from({ length: 50 }, (_, i) => ({ key: `k${i}` as CallKey, entry: { ...ENTRY, preview: `${prompt}${i}` } }));
  expect(JSON.stringify(packRows(rows)).split(prompt)).toHaveLength(2);
});

it('writes previews once that come in turns, as those of several conversations do', () => {
  const rows = Array.from({ length: 50 }, (_, i) => ({
    key: `k${i}` as CallKey,
    entry: { ...ENTRY, preview: i % 2 === 0 ? LONG_A : LONG_B },
  }));
  const text = JSON.stringify(packRows(rows));
  expect(text.split('soundings of the northern')).toHaveLength(2);
  expect(text.split('outer buoy has left')).toHaveLength(2);
});

it('reads the preview behind a row whose entry has no function', () => {
  const rows = [{ key: 'a' as CallKey }, { key: 'b' as CallKey, entry: { ...ENTRY, preview: 'one' } }];
  const found: (string | undefined)[] = [];
  const packed = packRows(rows);
  unpackRows(new PackedReader(packed, [[]]), unpackKeys(packed), (_key, entry) => void found.push(entry?.preview));
  expect(found).toEqual([undefined, 'one']);
});

it.each([
  ['all are digests', ['a', 'b', 'c'].map((text) => sha256(text))],
  ['one is none', [sha256('a'), 'k1', sha256('b')]],
  ['one has large digits', [sha256('a'), String(sha256('b')).toUpperCase()]],
  ['one has large digits behind a small prefix', [sha256('a'), `sha256:${'AB'.repeat(32)}`]],
  ['one has a letter that is no digit', [`sha256:${'ag'.repeat(32)}`, sha256('b')]],
  ['there are none', []],
])('reads keys back where %s', (_how, keys) => {
  const packed = packRows(keys.map((key) => ({ key: key as CallKey })));
  expect(unpackKeys(JSON.parse(JSON.stringify(packed)) as PackedRows)).toEqual(keys);
});
