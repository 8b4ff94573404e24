/** Chunks are cut by what they hold. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { anchorsIn, CHUNK_BYTES_MAX, CHUNK_BYTES_MIN, nextCut } from '../../../journal/storage/packs/cut-points.js';

function chunksOf(bytes: Buffer): string[] {
  const chunks: string[] = [];
  for (let start = 0, end = 0; start < bytes.length; start = end) {
    end = nextCut(bytes, start);
    chunks.push(bytes.toString('latin1', start, end));
  }
  return chunks;
}

/** Bytes without pattern, the same for the same seed. */
function noise(bytes: number, seed: number): Buffer {
  let state = seed;
  return Buffer.from(Array.from({ length: bytes }, () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) >>> 24));
}

it('cuts all bytes into chunks between the least and the greatest size', () => {
  fc.assert(
    fc.property(fc.nat({ max: 200_000 }), fc.nat(), (length, seed) => {
      const bytes = noise(length, seed);
      const chunks = chunksOf(bytes);
      expect(chunks.join('') === bytes.toString('latin1')).toBe(true);
      for (const chunk of chunks.slice(0, -1)) expect(chunk.length).toBeGreaterThanOrEqual(CHUNK_BYTES_MIN);
      for (const chunk of chunks) expect(chunk.length).toBeLessThanOrEqual(CHUNK_BYTES_MAX);
    }),
    { numRuns: 20 },
  );
});

it('makes chunks of some 5 KB, and cuts bytes that are all alike at the greatest size', () => {
  const { length } = chunksOf(noise(1_000_000, 1));
  expect(1_000_000 / length).toBeGreaterThan(4000);
  expect(1_000_000 / length).toBeLessThan(6500);
  expect(chunksOf(Buffer.alloc(5 * CHUNK_BYTES_MAX, 'x'))).toHaveLength(5);
});

it.each([
  ['front', 0],
  ['middle', 250_000],
  ['end', 500_000],
])('cuts a text alike before and after bytes are inserted at the %s, but for a chunk or two', (_place, at) => {
  for (let seed = 1; seed <= 10; seed++) {
    const before = noise(500_000, seed);
    const after = Buffer.concat([before.subarray(0, at), noise(3000, seed + 100), before.subarray(at)]);
    const known = new Set(chunksOf(before));
    const lost = chunksOf(after).filter((chunk) => !known.has(chunk));
    expect(lost.reduce((sum, chunk) => sum + chunk.length, 0)).toBeLessThan(3000 + 3 * CHUNK_BYTES_MAX);
  }
});

it('finds the anchors of a text wherever it stands in another one', () => {
  fc.assert(
    fc.property(fc.nat({ max: 5000 }), fc.nat({ max: 5000 }), fc.nat({ max: 20_000 }), fc.nat(), (before, start, length, seed) => {
      const text = noise(length, seed);
      const whole = Buffer.concat([noise(before, seed + 1), text, noise(300, seed + 2)]);
      const inside = [...anchorsIn(whole, before, before + length)].map((at) => at - before);
      expect(inside.filter((at) => at > 64)).toEqual([...anchorsIn(text, 0, length)].filter((at) => at > 64));
      expect([...anchorsIn(text, start, length)]).toEqual([...anchorsIn(text, 0, length)].filter((at) => at > start));
    }),
    { numRuns: 50 },
  );
});

it('finds an anchor in some 160 bytes, and next to none where one byte or a few are repeated', () => {
  const { length } = [...anchorsIn(noise(1_000_000, 1), 0, 1_000_000)];
  expect(1_000_000 / length).toBeGreaterThan(130);
  expect(1_000_000 / length).toBeLessThan(190);
  for (let byte = 0; byte < 256; byte++) {
    const runs = [Buffer.alloc(10_000, byte), Buffer.alloc(10_000, Buffer.from([byte, 47, 107]))];
    expect(runs.map((run) => [...anchorsIn(run, 0, run.length)].length < 3)).toEqual([true, true]);
  }
});
