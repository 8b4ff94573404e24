/** Writes JSON that reads back as the same value, also where `JSON.stringify` would lose a -0. Runs in browsers too. */

/** Writes members in their order, so that the same value is read back, also -0. For data that `jsonSize` takes. */
export function exactJson(value: unknown): string {
  return holdsNegativeZero(value) ? writeJson(value, (names) => names) : JSON.stringify(value);
}

/** True for a value with a -0, which `JSON.stringify` writes as 0. For data that `jsonSize` takes. */
export function holdsNegativeZero(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return Object.is(value, -0);
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (let i = 0; i < members.length; i++) if (typeof members[i] !== 'string' && holdsNegativeZero(members[i])) return true;
  return false;
}

/** Writes a value whose members `inOrder` may sort. For data that `jsonSize` takes. */
export function writeJson(value: unknown, inOrder: (names: string[]) => string[]): string {
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => writeJson(item, inOrder)).join(',')}]`;
  const data = value as { readonly [name: string]: unknown };
  const members = inOrder(Object.keys(data)).filter((name) => data[name] !== undefined);
  return `{${members.map((name) => `${JSON.stringify(name)}:${writeJson(data[name], inOrder)}`).join(',')}}`;
}
