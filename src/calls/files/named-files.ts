/** Decides which words of a call's arguments are paths of files that the call may have written. calls.md 22.4. */
import path from 'node:path';
import type { Json } from '../../../journal/event.js';
import { pathWords } from './path-words.js';

export interface NamedFilesRequest {
  /** The project's folder. */
  readonly root: string;
  /** Absolute: the folders that a relative path may begin at. One may be here twice. */
  readonly bases: readonly string[];
}

/** Mlld and git keep their own files there, which are nobody's result. */
export const CLOSED_FOLDERS: readonly string[] = ['.mlld', '.git'];

/** Returns paths relative to the project, with slashes, in the order of the arguments. */
export function namedFiles(args: readonly Json[], { root, bases }: NamedFilesRequest): readonly string[] {
  const words = pathWords(args);
  if (words.length === 0) return words; // mostly, and this is done for each call
  const folders = [...new Set(bases)];
  const found = new Set<string>();
  for (const word of words) {
    for (const base of path.isAbsolute(word) ? [root] : folders) {
      const name = nameInProject(root, path.resolve(base, word));
      if (name !== undefined) found.add(name);
    }
  }
  return [...found];
}

/** Undefined for a path outside of the project, and in a folder that is closed to calls. */
export function nameInProject(root: string, absolute: string): string | undefined {
  const parts = path.relative(root, absolute).split(path.sep);
  const [first = ''] = parts;
  if (first === '' || first === '..' || path.isAbsolute(first)) return undefined;
  return parts.some((part) => CLOSED_FOLDERS.includes(part)) ? undefined : parts.join('/');
}
