/** Reads PATH. */
import path from 'node:path';

/** Returns the folders of PATH; undefined where it is not set. An empty entry, which means the working directory, is left out. */
export function searchPathOf(environment: { readonly [name: string]: string | undefined }): readonly string[] | undefined {
  return environment['PATH']?.split(path.delimiter).filter((folder) => folder !== '');
}
