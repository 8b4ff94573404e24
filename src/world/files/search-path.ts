/** Reads PATH. */
import fs from 'node:fs';
import path from 'node:path';

type Environment = { readonly [name: string]: string | undefined };

/** Returns the folders of PATH; undefined where it is not set. An empty entry, which means the working directory, is left out. */
export function searchPathOf(environment: Environment): readonly string[] | undefined {
  return environment['PATH']?.split(path.delimiter).filter((folder) => folder !== '');
}

/** True for a program that is in one of the folders of PATH. */
export function isOnPath(program: string, environment: Environment): boolean {
  return (searchPathOf(environment) ?? []).some((folder) => isExecutable(path.join(folder, program)));
}

function isExecutable(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}
