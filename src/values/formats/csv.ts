/** Implements `@csv`: rows under the keys of the first object (values.md 11.6). */
import { isDataObject } from '../plain-object.js';
import { isErrorMarker } from '../kinds/marker.js';
import { parseStructure } from './json-text.js';
import { textOf } from '../text.js';
import { dataOf, type Value } from '../value.js';

/** Joins rows by LF without a final one. Returns a text that is neither JSON nor a table unchanged. */
export function toCsv(value: Value): string {
  const given = dataOf(value) ?? null;
  const data = typeof given === 'string' ? (parseStructure(given) ?? given) : given;
  if (Array.isArray(data)) return rowsOf(data).map(csvRow).join('\n');
  if (isDataObject(data)) return rowsOf([data]).map(csvRow).join('\n');
  const table = tableRows(textOf(data));
  return table.length === 0 ? textOf(data) : table.map(csvRow).join('\n');
}

function rowsOf(items: readonly Value[]): Value[][] {
  const objects = items.map((item) => dataOf(item));
  // A failed element has no fields of the table: its row is empty, and must not decide the columns.
  const first = objects.find((_, place) => !isErrorMarker(items[place])) ?? objects[0];
  if (!isDataObject(first)) return objects.map((item) => (Array.isArray(item) ? [...item] : [item]));
  const keys = Object.keys(first);
  return [keys, ...objects.map((item) => keys.map((key) => (isDataObject(item) && Object.hasOwn(item, key) ? item[key] : null)))];
}

function csvRow(fields: readonly Value[]): string {
  return fields.map(csvField).join(',');
}

function csvField(value: Value): string {
  const data = dataOf(value) ?? null;
  const text = data === null ? '' : textOf(data);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function isRuling(line: string): boolean {
  return line.includes('-') && /^[\s|:-]+$/.test(line);
}

/** Returns the cells of a Markdown table without its ruling. */
function tableRows(text: string): string[][] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('|') && !isRuling(line))
    .map((line) =>
      line
        .replace(/^\||\|$/g, '')
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll('\\|', '|')),
    );
}
