/** Parses the values of flags. */
import { InvalidValue } from './rows.js';

export function texts(text: string, earlier: unknown): readonly string[] {
  return [...((earlier as readonly string[] | undefined) ?? []), text];
}

/** Puts `KEY=VALUE` behind the earlier ones. */
export function keyValues(text: string, earlier: unknown): { readonly [key: string]: string } {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidValue('KEY=VALUE is expected');
  return { ...(earlier as { readonly [key: string]: string } | undefined), [text.slice(0, at)]: text.slice(at + 1) };
}

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= min && number <= max) return number;
    throw new InvalidValue(`a whole number from ${min} to ${max} is expected`);
  };
}

const UNIT_MS: { readonly [unit: string]: number } = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Returns the milliseconds of `12h`, `30d`, `8w`; undefined where the text is none. */
export function agoMs(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  return count === undefined || unitMs === undefined ? undefined : Number(count) * unitMs;
}
