/** Folders that the configuration gives a name: `@lib/tools` is `tools` in the folder of `@lib/`. world.md 4. */

export interface ResolverPrefix {
  /** Begins with `@` and ends with `/`. */
  readonly prefix: string;
  /** Absolute. */
  readonly basePath: string;
}

/** Returns the folder of the prefix and the text after the prefix; undefined for a text that begins with no known prefix. */
export function resolvePrefix(
  text: string,
  prefixes: readonly ResolverPrefix[],
): { readonly root: string; readonly rest: string } | undefined {
  const found = prefixes.find(({ prefix }) => text.startsWith(prefix));
  return found && { root: found.basePath, rest: text.slice(found.prefix.length) };
}
