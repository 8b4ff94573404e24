/**
 * Reads journals by `docs/journal-format.md` alone: written from its text, with Node's cryptography and nothing of the program. What it
 * can't do, the text doesn't say.
 */
import { createDecipheriv, createHash, createHmac, hkdfSync } from 'node:crypto';

export type Data = null | boolean | number | string | readonly Data[] | { readonly [name: string]: Data };

export interface Call {
  readonly fn: string;
  readonly args: readonly Data[];
  readonly via?: { readonly fn: string; readonly args: readonly Data[] };
  readonly attempt?: number;
}

/** "Call keys" */
export function keyOfCall({ fn, args, via, attempt }: Call): string {
  const forwarded = via === undefined ? '' : `,"via":{"fn":${text(via.fn)},"args":${list(via.args)}}`;
  const retry = attempt === undefined ? '' : `,"attempt":${attempt}`;
  return `sha256:${createHash('sha256')
    .update(`{"fn":${text(fn)},"args":${list(args)}${forwarded}${retry}}`, 'utf8')
    .digest('hex')}`;
}

/** "As JSON" */
function written(data: Data): string {
  if (typeof data === 'string') return text(data);
  if (Object.is(data, -0)) return '-0';
  if (typeof data === 'number') return Number.isFinite(data) ? String(data) : text(String(data));
  if (typeof data !== 'object' || data === null) return String(data);
  if (Array.isArray(data)) return list(data as readonly Data[]);
  const names = Object.keys(data).sort(byUnits);
  return `{${names.map((name) => `${text(name)}:${written((data as { readonly [name: string]: Data })[name] as Data)}`).join(',')}}`;
}

function list(elements: readonly Data[]): string {
  return `[${elements.map(written).join(',')}]`;
}

const SHORT: { readonly [character: string]: string } = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
};

function text(characters: string): string {
  let quoted = '';
  for (const character of characters) {
    const unit = character.charCodeAt(0);
    const isAlone = character.length === 1 && unit >= 0xd800 && unit <= 0xdfff;
    quoted += SHORT[character] ?? (unit < 0x20 || isAlone ? `\\u${unit.toString(16).padStart(4, '0')}` : character);
  }
  return `"${quoted}"`;
}

function byUnits(left: string, right: string): number {
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const difference = left.charCodeAt(at) - right.charCodeAt(at);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** "Secrets": one of the keys that follow from the root. */
function derived(root: Uint8Array, use: 'seal' | 'digest' | 'id'): Buffer {
  return Buffer.from(hkdfSync('sha256', root, new Uint8Array(0), `mlld journal 1 ${use}`, 32));
}

export function keyOfSecretCall(root: Uint8Array, plainKey: string): string {
  return `sha256:${createHmac('sha256', derived(root, 'digest')).update(`call ${plainKey}`).digest('hex')}`;
}

export function digestOf(root: Uint8Array, data: Data): string {
  return `hmac-sha256:${createHmac('sha256', derived(root, 'digest'))
    .update(`value ${written(data)}`)
    .digest('hex')}`;
}

export function keyIdOf(root: Uint8Array): string {
  return derived(root, 'id').subarray(0, 8).toString('hex');
}

/** Nonce, tag, ciphertext; throws when it is not what was sealed. */
export function opened(root: Uint8Array, sealed: Uint8Array, about: string): Data {
  const cipher = createDecipheriv('aes-256-gcm', derived(root, 'seal'), sealed.subarray(0, 12), { authTagLength: 16 });
  cipher.setAAD(Buffer.from(about, 'utf8')).setAuthTag(sealed.subarray(12, 28));
  return JSON.parse(Buffer.concat([cipher.update(sealed.subarray(28)), cipher.final()]).toString('utf8')) as Data;
}
