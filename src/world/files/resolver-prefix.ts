/** Folders that the configuration gives a name: `@lib/tools` is `tools` in the folder of `@lib/`. world.md 4. */
import path from 'node:path';

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

/** Returns true for a path that leaves the folder by `..`. Links inside the folder are the user's own, and followed. */
export function leavesFolder(root: string, absolute: string): boolean {
  const below = path.relative(root, absolute);
  return below === '..' || below.startsWith(`..${path.sep}`) || path.isAbsolute(below);
}
