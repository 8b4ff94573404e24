/** Implements `@xml`: data as nested tags, for prompts (values.md 11.5). */
import { isDataObject } from '../plain-object.js';
import { parseStructure } from './json-text.js';
import { type Heading, headings } from './sections.js';
import { textOf } from '../text.js';
import { dataOf, type Value } from '../value.js';

export function toXml(value: Value): string {
  const data = dataOf(value) ?? null;
  if (typeof data !== 'string') return dataToXml(data);
  const structure = parseStructure(data);
  if (structure !== undefined) return dataToXml(structure);
  const all = headings(data);
  return all.length > 0 ? headingsToXml(data, all) : `<DOCUMENT>\n${data}\n</DOCUMENT>`;
}

function dataToXml(data: Value): string {
  if (Array.isArray(data)) return element('ROOT', data, '').join('\n');
  if (isDataObject(data)) return children(data, '').join('\n');
  return element('DOCUMENT', data, '').join('\n');
}

/** Returns the lines of one value; none for null. */
function element(tag: string, value: Value, indent: string): string[] {
  const data = dataOf(value) ?? null;
  if (data === null) return [];
  if (Array.isArray(data)) {
    const items = data.flatMap((item: Value) => element('ITEM', item, `${indent}  `));
    return [`${indent}<${tag}>`, ...items, `${indent}</${tag}>`];
  }
  if (!isDataObject(data)) return [`${indent}<${tag}>${escapeXml(textOf(data))}</${tag}>`];
  if (Object.keys(data).length === 0) return [`${indent}<${tag} />`];
  return [`${indent}<${tag}>`, ...children(data, `${indent}  `), `${indent}</${tag}>`];
}

function children(object: { readonly [key: string]: Value }, indent: string): string[] {
  return Object.entries(object).flatMap(([key, entry]) => element(tagOf(key), entry, indent));
}

function tagOf(key: string): string {
  const tag = key
    .replace(/(\p{Ll})(?=\p{Lu})/gu, '$1_')
    .replace(/[\s.-]+/g, '_')
    .replace(/[^\p{L}\p{N}_]/gu, '')
    .replace(/^_+|_+$/g, '')
    .toUpperCase();
  return tag === '' ? 'ITEM' : tag;
}

const ENTITIES: { readonly [character: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Turns every Markdown heading into a tag around its section. Tags of inner sections are indented, the text between tags is not. */
function headingsToXml(text: string, all: readonly Heading[]): string {
  const open: { readonly level: number; readonly line: string }[] = [];
  const out = [withoutBlankEnds(text.slice(0, all[0]?.at))];
  const closeFrom = (level: number): void => {
    for (let last = open.at(-1); last && last.level >= level; last = open.at(-1)) {
      out.push(last.line);
      open.pop();
    }
  };
  for (const [i, { level, title, at }] of all.entries()) {
    closeFrom(level);
    const indent = '  '.repeat(open.length);
    const tag = tagOf(title);
    out.push(`${indent}<${tag}>`, textBelow(text.slice(at, all[i + 1]?.at)));
    open.push({ level, line: `${indent}</${tag}>` });
  }
  closeFrom(0);
  return out.filter((part) => part !== '').join('\n');
}

/** Returns what stands under the line of a heading. */
function textBelow(section: string): string {
  const end = section.indexOf('\n');
  return end === -1 ? '' : withoutBlankEnds(section.slice(end));
}

function withoutBlankEnds(text: string): string {
  return text.replace(/^(?:[ \t\r]*\n)+/, '').trimEnd();
}
