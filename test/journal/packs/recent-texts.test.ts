/** Holds that the payload of a call goes into a pack when it continues an earlier text, and has a place in its line else. */
import { expect, it } from 'vitest';
import { RecentTexts } from '../../../journal/storage/packs/recent-texts.js';
import { openFileStore } from '../../../journal/storage/file-store.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import type { Payload } from '../../../journal/event.js';
import type { JournalStore } from '../../../journal/store.js';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { journalFolder, packsFolder } from '../../../journal/storage/layout.js';
import { temporaryFolder } from '../support/folder.js';
import { conversation, words } from './related-texts.js';

const stored = async (store: JournalStore, values: readonly (string | readonly string[])[], mayContinue = true): Promise<Payload[]> => {
  const payloads: Payload[] = [];
  for (const value of values) payloads.push(await store.payload(value, { mayContinue }));
  return payloads;
};
const places = (payloads: readonly Payload[]): string => payloads.map((payload) => ('inline' in payload ? 'line' : 'pack')).join(' ');

it('continues a text of which half of it is the beginning, and no other', () => {
  const recent = new RecentTexts();
  const [first = '', second = '', third = ''] = conversation('tide', 2, 8000, 1000);
  expect([first, second, third].map((text) => recent.continues(text))).toEqual([false, true, true]);
  expect(recent.continues(words('other', 8000))).toBe(false);
  expect(recent.continues(first.slice(0, 4000) + words('more than half is new', 4002))).toBe(false);
  expect(recent.continues(second)).toBe(true); // the earlier ones are held by the later one
});

it('forgets the text that was continued longest ago', () => {
  const recent = new RecentTexts();
  const first = words('first', 1000);
  const second = words('second', 1000);
  for (const text of [first, second, ...Array.from({ length: 298 }, (_, n) => words(n, 1000)), first]) recent.continues(text);
  recent.continues(words('one more', 1000));
  expect([recent.continues(first), recent.continues(second)]).toEqual([true, false]);
});

it('holds no more than eight million units of text', () => {
  const recent = new RecentTexts();
  const long = (n: number): string => String(n).padStart(5, '.') + 'tide '.repeat(20_000);
  for (let n = 0; n < 100; n++) recent.continues(long(n));
  expect(Array.from({ length: 100 }, (_, n) => n).filter((n) => recent.continues(long(n))).length).toBeLessThan(84);
});

it.each([
  ['a file store', () => openFileStore(temporaryFolder())],
  ['a store in memory', () => openMemoryStore()],
])('%s packs what continues, from 6 Ki characters on', async (_name, open) => {
  const texts = conversation('tide', 4, 5000, 1000);
  const other = words('other', 20_000);
  expect(places(await stored(open(), [...texts, other]))).toBe('line line line pack pack line');
  expect(places(await stored(open(), [...texts, other], false))).toBe('line line line line line line'); // the result of an effect, for one
  const store = open();
  const values = texts.map((text) => [text, 'and a question']);
  for (const [n, payload] of (await stored(store, values)).entries()) expect(await store.resolve(payload)).toEqual(values[n]);
});

it('takes the space of the longest text and little more', async () => {
  const root = temporaryFolder();
  const store = openFileStore(root);
  const texts = conversation('tide', 40, 7000, 500);
  // A call gets the history and a question, and returns the history with its reply.
  for (const [n, text] of texts.entries()) {
    await store.payload([text, `question ${n}`], { mayContinue: true });
    await store.payload(text, { mayContinue: true });
  }
  const packs = readdirSync(packsFolder(journalFolder(root))).filter((name) => name.endsWith('.pack'));
  const bytes = packs.reduce((sum, name) => sum + statSync(join(packsFolder(journalFolder(root)), name)).size, 0);
  expect(bytes).toBeLessThan((texts.at(-1) as string).length + texts.length * 700);
});

it.each([
  ['a file store', () => openFileStore(temporaryFolder())],
  ['a store in memory', () => openMemoryStore()],
])('%s packs the answer of a call whose arguments repeat what is stored', async (_name, open) => {
  const store = open();
  const [first = '', second = '', third = ''] = conversation('tide', 2, 8000, 1000);
  const [begun, , continued, alone] = await stored(store, [[first], [second], [third], [words('other', 80_000)]]);
  const placeOf = async (value: string, answers: Payload | undefined): Promise<string> => places([await store.payload(value, { answers })]);
  const answer = words('answer', 1100);
  expect([begun, continued, alone].map((args) => args && places([args]))).toEqual(['line', 'pack', 'pack']);
  expect(await placeOf(answer, begun)).toBe('line');
  expect(await placeOf(answer, alone)).toBe('line'); // it repeats nothing
  expect(await placeOf(words('short', 1000), continued)).toBe('line');
  expect(await placeOf(answer, continued)).toBe('pack');
  expect(await store.resolve(await store.payload(answer, { answers: continued }))).toBe(answer);
});

it('a store that was opened anew keeps the next text of a conversation in its line, and packs those after it', async () => {
  const root = temporaryFolder();
  const [first = '', second = '', ...rest] = conversation('tide', 4, 8000, 1000);
  expect(places(await stored(openFileStore(root), [first, second]))).toBe('line pack');
  expect(places(await stored(openFileStore(root), rest))).toBe('line pack pack');
});
