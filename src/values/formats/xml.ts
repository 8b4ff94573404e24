/** Implements `@xml`: data as nested tags, for prompts (values.md 11.5). */
import { isDataObject } from '../plain-object.js';
import { parseStructure } from './json-text.js';
import { textOf } from '../text.js';
import { dataOf, type Value } from '../value.js';

export function toXml(value: Value): string {
  const data = dataOf(value) ?? null;
  if (typeof data !== 'string') return dataToXml(data);
  const structure = parseStructure(data);
  if (structure !== undefined) return dataToXml(structure);
  return isHeading(data) ? headingsToXml(data) : `<DOCUMENT>\n${data}\n</DOCUMENT>`;
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

function isHeading(text: string): boolean {
  return /^#{1,6}\s+\S/m.test(text);
}

/** Turns every Markdown heading into a tag around the text below it. */
function headingsToXml(text: string): string {
  const open: { readonly level: number; readonly tag: string }[] = [];
  const out = ['<DOCUMENT>'];
  const closeFrom = (level: number): void => {
    for (let last = open.at(-1); last && last.level >= level; last = open.at(-1)) {
      out.push(`</${last.tag}>`);
      open.pop();
    }
  };
  for (const line of text.split('\n')) {
    const heading = /^(#{1,6})\s(.*)$/.exec(line);
    if (heading) {
      const [, marks = '', title = ''] = heading;
      closeFrom(marks.length);
      const tag = tagOf(title.trim());
      out.push(`<${tag}>`);
      open.push({ level: marks.length, tag });
    } else if (line.trim() !== '') out.push(line);
  }
  closeFrom(0);
  return [...out, '</DOCUMENT>'].join('\n');
}
