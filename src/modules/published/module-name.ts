/** Names of published modules, and the versions that an import may ask for. world.md 11.7. */

/** `@author/name`, with or without `@version`. */
export interface ModuleName {
  readonly name: string;
  readonly wanted?: string;
}

const NAME = /^(@[A-Za-z0-9_][A-Za-z0-9_-]*\/[A-Za-z0-9_][A-Za-z0-9_.-]*)(?:@([A-Za-z0-9.^~*_+-]+))?$/;
/** These begin sources that are no modules. */
const OTHER_SOURCES = /^@(?:root|base|input|stdin|payload|state)\//;

/** Returns undefined for a text that names no module, among them any that a path could escape its folder by. */
export function parseModuleName(text: string): ModuleName | undefined {
  const [, name, wanted] = NAME.exec(text) ?? [];
  if (name === undefined || name.includes('..') || OTHER_SOURCES.test(name)) return undefined;
  return wanted === undefined ? { name } : { name, wanted };
}

/** True for a text that may be the version of a module: it has no line end or other character that would spoil a message. */
export function isVersion(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9.+_-]{0,99}$/.test(text);
}

/**
 * Returns true where the version is one that `wanted` takes: `1.2.0`, `1.2` or `1` (its beginning), `^1.2.0` (the same first number that is
 * not 0, and not below), `~1.2.0` (the same first two numbers, and not below), `*` or `latest`.
 */
export function satisfies(version: string | undefined, wanted: string | undefined): boolean {
  if (wanted === undefined || wanted === '*' || wanted === 'latest' || version === wanted) return true;
  if (version === undefined) return false;
  const [, sign, base = ''] = /^([\^~]?)v?(.*)$/.exec(wanted) ?? [];
  if (sign === '') return version.startsWith(`${base}.`) && /^[\d.]+$/.test(base);
  const [is, least] = [numbers(version), numbers(base)];
  if (is === undefined || least === undefined) return false;
  const first = least.findIndex((number) => number > 0);
  const fixed = sign === '~' ? Math.min(2, base.split('.').length) : first < 0 ? 3 : first + 1;
  return is.slice(0, fixed).every((number, i) => number === least[i]) && compare(is, least) >= 0;
}

/** Undefined for a version that is not made of numbers alone: of those, an import takes only the exact text. */
function numbers(version: string): readonly number[] | undefined {
  if (!/^\d+(?:\.\d+){0,2}$/.test(version)) return undefined;
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  return [major, minor, patch];
}

function compare(left: readonly number[], right: readonly number[]): number {
  const at = left.findIndex((number, i) => number !== right[i]);
  return at < 0 ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
}
