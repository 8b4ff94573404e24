/**
 * Finds files by pattern (world.md 6): `*`, `**`, `?` and classes; every other character means itself. Wraps tinyglobby.
 */
import { isAbsolute, relative, resolve, sep } from 'node:path';

const IGNORED_FOLDERS = ['node_modules', '.git', 'dist', 'build'];

/** Returns absolute paths in code unit order. `pattern` is absolute or relative to `root`. */
export async function globFiles(root: string, pattern: string): Promise<string[]> {
  const { glob } = await import('tinyglobby');
  const { folder, rest } = split(root, pattern);
  const found = await glob([literalExceptWildcards(rest)], {
    cwd: folder,
    absolute: true,
    onlyFiles: true,
    dot: false,
    followSymbolicLinks: true,
    expandDirectories: false,
    ignore: IGNORED_FOLDERS.flatMap((name) => [`**/${name}/**`]),
  });
  return found.sort();
}

/** Splits off the folder in which the search starts. Folders above it are not matched, so one of them may be called `build`. */
function split(root: string, pattern: string): { folder: string; rest: string } {
  const parts = pattern.split('/');
  const first = parts.findIndex((part) => /[*?[]/.test(part));
  const fixed = first < 0 ? parts.slice(0, -1) : parts.slice(0, first);
  const rest = parts.slice(fixed.length).join('/');
  const start = isAbsolute(pattern) ? resolve('/', ...fixed) : resolve(root, ...fixed);
  const below = relative(root, start);
  const isBelowRoot = below !== '..' && !below.startsWith(`..${sep}`) && !isAbsolute(below);
  // `/` as the root means only that the pattern is absolute.
  return isBelowRoot && root !== '/' ? { folder: root, rest: below === '' ? rest : `${below}/${rest}` } : { folder: start, rest };
}

function literalExceptWildcards(pattern: string): string {
  return pattern.replace(/[(){}|\\]|^!/g, '\\$&');
}
