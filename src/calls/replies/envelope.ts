/** Parses what a program printed: one JSON object, a list of objects, or one object in each line. calls.md 7.3 and 7.5.1. */
import type { Json } from '../../../journal/event.js';
import { isObject } from '../../../journal/json-object.js';
import type { Headers } from '../evidence/times.js';
import type { Envelope } from './reply.js';

/** Undefined for a text that is none of these. A last line that is cut is left out. */
export function envelopeOf(text: string): Envelope | undefined {
  const trimmed = text.trim();
  if (!trimmed.startsWith('{') && !trimmed.startsWith('[')) return undefined;
  const whole = parsed(trimmed);
  if (isObject(whole)) return { form: 'object', objects: [whole] };
  if (Array.isArray(whole)) return whole.length > 0 && whole.every(isObject) ? { form: 'lines', objects: whole } : undefined;
  const lines = trimmed.split(/\r?\n/).filter((line) => line.trim() !== '');
  const objects = lines.map(parsed);
  if (objects.length > 1 && objects.at(-1) === undefined) objects.pop();
  return objects.length > 0 && lines.length > 1 && objects.every(isObject) ? { form: 'lines', objects } : undefined;
}

/**
 * Finds the envelope of a text that has other lines as well, such as the warnings of a program. Undefined where no line is JSON, and no
 * object over several lines is.
 */
export function envelopeAmong(text: string): Envelope | undefined {
  const lines = text.split(/\r?\n/);
  const objects = lines
    .filter((line) => /^[{[]/.test(line))
    .map(parsed)
    .flatMap((each) => (Array.isArray(each) ? each : [each]))
    .filter(isObject);
  if (objects.length > 0) return { form: objects.length > 1 ? 'lines' : 'object', objects };
  const first = lines.findIndex((line) => line.startsWith('{'));
  const last = lines.findLastIndex((line) => line.startsWith('}'));
  return first < 0 || last < first ? undefined : envelopeOf([...lines.slice(first, last), '}'].join('\n'));
}

/** An HTTP response as `curl -i` prints it. */
export interface HttpReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/**
 * Undefined for a text that does not begin with a status line and headers: a result may begin with the words of the former. Responses that
 * lead to another one (100, redirections) are passed over.
 */
export function httpReplyOf(text: string): HttpReply | undefined {
  const head = /^HTTP\/[\d.]+ (\d{3})[^\n]*\n/.exec(text);
  if (!head) return undefined;
  const end = /\r?\n\r?\n/.exec(text);
  const headText = end ? text.slice(head[0].length, end.index) : text.slice(head[0].length);
  const body = end ? text.slice(end.index + end[0].length) : '';
  const next = httpReplyOf(body);
  if (next) return next;
  const lines = headText.split(/\r?\n/).filter((line) => line !== '');
  if (lines.length === 0 ? !head[0].endsWith('\r\n') || end === null : !lines.every((line) => HEADER.test(line))) return undefined;
  const headers = lines.map((line): [string, string] => {
    const at = line.indexOf(':');
    return [line.slice(0, Math.max(0, at)).trim().toLowerCase(), line.slice(at + 1).trim()];
  });
  return { status: Number(head[1]), headers: Object.fromEntries(headers), body };
}

const HEADER = /^(?:[\w!#$%&'*+.^`|~-]+:|[ \t])/;

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // the text is not JSON
  }
}
