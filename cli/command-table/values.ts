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
