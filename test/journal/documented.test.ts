/** `docs/journal-format.md` lists the members of each event as the sources declare them. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { INLINE_MAX } from '../../journal/payloads.js';
import { LINE_BYTES_MAX } from '../../journal/codec.js';
import { DURABILITY } from '../../journal/durability.js';
import { JOURNAL_VERSION } from '../../journal/event.js';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const document = read('docs/journal-format.md');

/** These members of a line are the envelope's, whatever a fact holds. */
const ENVELOPE = ['v', 'seq', 'type', 'ts', 'hash'];

const SOURCES = ['journal/facts/run-event.ts', 'journal/event.ts', 'journal/facts/call-event.ts', 'journal/facts/pipeline-event.ts'];

/** Returns the names of a type's members in the union, with `?` behind those that may be absent. */
function declaredMembers(type: string): string[] {
  const source = SOURCES.map(read)
    .join('\n')
    .replaceAll(/\/\*\*[\s\S]*?\*\//g, '');
  const begin = source.indexOf(`readonly type: '${type}'`);
  const text = source.slice(begin, source.indexOf('\n  |', begin));
  const start = source.slice(source.lastIndexOf('\n  |', begin), begin);
  const [shared = ''] = start.includes('CallResult &') ? (/type CallResult = \{[\s\S]*?\n\}/.exec(source) ?? []) : [];
  const flat = (shared + text.slice(0, text.search(/;\n\nexport|$/))).replaceAll(/: [^;{}]*\{[^{}]*\}/g, ': object');
  return [...flat.matchAll(/readonly (\w+)(\??):/g)].map(([, name, mark]) => `${name}${mark}`).filter((name) => !ENVELOPE.includes(name));
}

it.each(Object.entries(DURABILITY))('documents %s', (type, durability) => {
  const rows = document.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  const [, , documented, members = ''] = rows.find(([, first]) => first === `\`${type}\``) ?? [];
  expect(documented).toBe(durability);
  const names = [...members.matchAll(/(_?)`(\w+)`/g)].map(([, mark, name]) => `${name}${mark ? '?' : ''}`);
  expect(names).toEqual(declaredMembers(type));
});

it('documents the version and the limits', () => {
  expect(document).toContain(`# The journal's format, version ${JOURNAL_VERSION}`);
  expect(document).toContain(`about ${INLINE_MAX / 1024} Ki characters`);
  expect(document).toContain(`at most ${LINE_BYTES_MAX / 1024 / 1024} MB`);
});
