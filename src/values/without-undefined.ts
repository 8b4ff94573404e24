/** Makes objects whose optional members are absent, and not there with the value undefined: a record and `--json` do not name them. */

/** `T`, but every optional member may also be given as undefined. */
type WithUndefined<T> = { readonly [K in keyof T]: object extends Pick<T, K> ? T[K] | undefined : T[K] };

/**
 * Returns a copy without the members that are undefined. Costs a copy: for what is made once in a run, not once in a call. The order of
 * members is kept.
 */
export function withoutUndefined<T extends object>(members: WithUndefined<T>): T {
  const kept: { [name: string]: unknown } = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) kept[name] = value;
  return kept as T; // what it lacks is optional in `T`
}
