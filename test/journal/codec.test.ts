import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { bodyOf, CHAIN_SEED, decodeOwn, encode, PREDECESSOR_BYTES } from '../../journal/codec.js';
import type { Fact, JournalEvent } from '../../journal/event.js';
import { openFileStore } from '../../journal/storage/file-store.js';
import { mayBePacked } from '../../journal/payloads.js';
import { seqOf } from '../../journal/ids.js';
import { LineBuffer, type Flaw } from '../../journal/lines/line-buffer.js';
import { LineQueue } from '../../journal/lines/line-queue.js';
import { journalFolder, runPath } from '../../journal/storage/layout.js';
import { climb } from '../../journal/upcast.js';
import { anyFact } from './support/any-fact.js';
import { callCompleted, opStarted, runRef, smallRun } from './support/facts.js';
import { temporaryFolder } from './support/folder.js';
import { factOf, readRun } from './support/read.js';

const ts = '2026-11-21T08:45:12.123Z';

function decodeText(text: string, previousHash: string): JournalEvent | Flaw {
  const buffer = lineBuffer(text);
  buffer.follow(previousHash);
  return buffer.decode(PREDECESSOR_BYTES, buffer.bytes.length - 1);
}

function lineBuffer(text: string): LineBuffer {
  const bytes = Buffer.from(text);
  const buffer = new LineBuffer(bytes.length);
  buffer.bytes.set(bytes, PREDECESSOR_BYTES);
  return buffer;
}

const asJson = (fact: Fact): unknown => JSON.parse(JSON.stringify(fact));

it('reads any event as it was written, and writes it the same again', () => {
  fc.assert(
    fc.property(anyFact, fc.nat(), fc.stringMatching(/^[0-9a-f]{64}$/), (fact, n, previous) => {
      const line = encode(fact, seqOf(n), ts, previous);
      const event = decodeText(line.text, previous) as JournalEvent;
      expect(factOf(event)).toEqual(asJson(fact));
      expect(event).toMatchObject({ v: Object.values(fact).some(mayBePacked) ? 2 : 1, seq: n, ts, hash: line.hash });
      expect(decodeOwn(line)).toEqual(event);
      expect(encode(event, event.seq, event.ts, previous)).toEqual(line);
    }),
  );
});

it('puts the same bytes into a queue, behind what is there', () => {
  fc.assert(
    fc.property(fc.array(anyFact, { maxLength: 8 }), fc.nat({ max: 8 }), (facts, taken) => {
      const queue = new LineQueue();
      const written: Uint8Array[] = [];
      let previous = CHAIN_SEED;
      let text = '';
      facts.forEach((fact, n) => {
        if (n === taken) written.push(Buffer.from(queue.take()));
        const line = encode(fact, seqOf(n), ts, previous);
        expect(queue.add(bodyOf(fact, seqOf(n), ts))).toBe(Buffer.byteLength(line.text));
        previous = line.hash;
        text += line.text;
      });
      written.push(queue.take());
      expect(Buffer.concat(written).toString()).toBe(text);
    }),
  );
});

it('overwrites no lines before they are released, whatever is released meanwhile', () => {
  const sizes = fc.constantFrom(10, 2000, 70_000, 300_000);
  fc.assert(
    fc.property(fc.array(fc.tuple(sizes, fc.boolean()), { maxLength: 30 }), (steps) => {
      const queue = new LineQueue();
      const kept: { readonly lines: Uint8Array; readonly copy: Buffer }[] = [];
      for (const [n, [length, isReleased]] of steps.entries()) {
        const body = bodyOf({ ...callCompleted(n), result: { inline: 'x'.repeat(length) } } as Fact, seqOf(n), ts);
        if (queue.add(body) === 0) {
          const lines = queue.take();
          kept.push({ lines, copy: Buffer.from(lines) });
          queue.add(body);
        }
        if (isReleased) for (const { lines } of kept.splice(0, 1 + (n % 3))) queue.release(lines);
        for (const { lines, copy } of kept) expect(copy.equals(lines)).toBe(true);
      }
    }),
    { numRuns: 50 },
  );
});

it('uses the memory of released lines again', () => {
  const queue = new LineQueue();
  const memory = new Set<ArrayBufferLike>();
  for (let n = 0; n < 60; n++) {
    queue.add(bodyOf({ ...callCompleted(n), result: { inline: 'x'.repeat(70_000) } } as Fact, seqOf(n), ts));
    const lines = queue.take();
    memory.add(lines.buffer);
    queue.release(lines);
  }
  expect(memory.size).toBe(2);
});

it.each([2000, 300_000])('queues an event of %i letters, larger than the queue or not, and continues behind it', (length) => {
  const queue = new LineQueue();
  let previous = CHAIN_SEED;
  const long = { ...callCompleted(1), result: { inline: 'é"\n'.repeat(length) } } as Fact;
  const { key, op, ...rest } = long as Extract<Fact, { type: 'call.completed' }>;
  [opStarted(0), long, opStarted(2), { ...rest, op, key }, opStarted(4)].forEach((fact, n) => {
    const line = encode(fact, seqOf(n), ts, previous);
    previous = line.hash;
    queue.add(bodyOf(fact, seqOf(n), ts));
    expect(Buffer.from(queue.take()).toString()).toBe(line.text);
  });
});

it('begins a line with version, number, type, key and path, whatever the order of the members', () => {
  const { key, op, ...rest } = callCompleted(3) as Extract<Fact, { type: 'call.completed' }>;
  const { text } = encode({ ...rest, op, key }, seqOf(7), ts, CHAIN_SEED);
  expect(text.startsWith(`{"v":1,"seq":7,"type":"call.completed","key":"${key}","op":"${op}",`)).toBe(true);
  expect(text).toMatch(/,"ts":"2026-11-21T08:45:12.123Z","hash":"[0-9a-f]{64}"\}\n$/);
  expect(encode(opStarted(1), seqOf(8), ts, CHAIN_SEED).text).toMatch(/^\{"v":1,"seq":8,"type":"op.started","op":"main\/show#1","kind"/);
});

it('hashes the predecessor and the line without its hash', () => {
  const { text, hash } = encode(callCompleted(1), seqOf(0), ts, CHAIN_SEED);
  const withoutHash = text.trimEnd().replace(/,"hash":"[0-9a-f]{64}"\}$/, '}');
  expect(hash).toBe(createHash('sha256').update(CHAIN_SEED).update(withoutHash).digest('hex'));
});

it('parses lines together and leaves the bytes as they are, also behind something else than a line', () => {
  const lines = [0, 1, 2].map((n) => encode(callCompleted(n), seqOf(n), ts, CHAIN_SEED).text);
  const buffer = lineBuffer(`a digit 7${lines.join('')}`);
  const { bytes } = buffer;
  const start = PREDECESSOR_BYTES + 9;
  const ends = lines.map((_, n) => start + Buffer.byteLength(lines.slice(0, n + 1).join('')) - 1);
  const before = Buffer.from(bytes);
  expect(buffer.parse(start, ends)).toEqual(lines.map((line) => JSON.parse(line) as unknown));
  expect(bytes).toEqual(before);
  bytes[start + 3] = 0;
  expect(buffer.parse(start, ends)).toBeUndefined();
});

it('takes a line only behind its own predecessor', () => {
  const { text } = encode(callCompleted(1), seqOf(0), ts, CHAIN_SEED);
  expect(decodeText(text, CHAIN_SEED)).toMatchObject({ seq: 0 });
  expect(decodeText(text, '1'.repeat(64))).toBe('corrupt');
});

it.each([
  ['', 'corrupt'],
  ['null', 'corrupt'],
  ['{"v":1,"seq":0}', 'corrupt'],
  ['{"v":2,"seq":0}', 'corrupt'],
  ['{"v":3,"seq":0}', 'unknown-version'],
  ['{"v":10,"seq":0}', 'unknown-version'],
  ['{"v":0,"seq":0}', 'unknown-version'],
  ['{"v":"1","seq":0}', 'corrupt'],
])('does not take %j for an event', (text, flaw) => expect(decodeText(`${text}\n`, CHAIN_SEED)).toBe(flaw));

it('verifies any run that was legally written', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(anyFact, fc.boolean()), { maxLength: 40 }), async (facts) => {
      const store = openFileStore(temporaryFolder());
      const journal = await store.create(runRef(1));
      const appended = facts.map(async ([fact, awaited]) => (awaited ? journal.append(fact) : journal.post(fact)));
      const recorded = await Promise.all(appended);
      await journal.close();
      const { events, positions, defects } = await readRun(store, runRef(1));
      expect(defects).toEqual([]);
      expect(events.map(factOf)).toEqual(facts.map(([fact]) => asJson(fact)));
      expect(positions).toEqual(recorded.map(({ position }) => position));
    }),
    { numRuns: 40 },
  );
});

it('can be verified by hand, with the commands of the documentation', async () => {
  const root = temporaryFolder();
  const journal = await openFileStore(root).create(runRef(1));
  for (const fact of smallRun) journal.post(fact);
  await journal.close();
  const path = runPath(journalFolder(root), runRef(1));
  const script = `previous=$(printf '0%.0s' {1..64})
    while IFS= read -r line; do
      stored=\${line: -66:64}
      computed=$(printf '%s%s}' "$previous" "\${line:0:\${#line}-75}" | sha256sum | cut -c1-64)
      [ "$stored" = "$computed" ] && echo ok || echo "bad: $line"
      previous=$stored
    done < "$1"`;
  const { stdout } = spawnSync('bash', ['-c', script, 'verify', path], { encoding: 'utf8' });
  expect(stdout).toBe('ok\n'.repeat(smallRun.length));
});

it('lifts an old event step by step', () => {
  const steps = {
    1: (event: { v: number }) => ({ ...event, v: 2, renamed: true }),
    2: (event: { v: number }) => ({ ...event, v: 3, split: true }),
  };
  expect(climb({ v: 1, kept: 'x' }, steps, 3)).toEqual({ v: 3, kept: 'x', renamed: true, split: true });
  expect(climb({ v: 3 }, steps, 3)).toEqual({ v: 3 });
  expect(() => climb({ v: 3 }, steps, 4)).toThrow('no step');
});
