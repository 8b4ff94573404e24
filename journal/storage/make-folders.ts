/**
 * Makes a folder and those above it. Node's own way (`recursive: true`) never ends where a folder exists and refuses children with
 * ENOENT, as /proc does. This function tries at most twice for every part of the path.
 */
import fs from 'node:fs';
import path from 'node:path';

/** Returns the first folder that was made, undefined when all were there. Throws the system's error about one that can't be made. */
export function makeFolders(folder: string, mode?: number): string | undefined {
  try {
    fs.mkdirSync(folder, mode);
    return folder;
  } catch (error) {
    if (isFolder(folder)) return undefined;
    const above = path.dirname(folder);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === folder) throw error;
    const first = makeFolders(above, mode);
    // The folder above is there now; a second ENOENT is final.
    return makeLast(folder, mode) ? (first ?? folder) : first;
  }
}

/** Returns false when another process was quicker. */
function makeLast(folder: string, mode: number | undefined): boolean {
  try {
    fs.mkdirSync(folder, mode);
    return true;
  } catch (error) {
    if (isFolder(folder)) return false;
    throw error;
  }
}

function isFolder(folder: string): boolean {
  try {
    return fs.statSync(folder).isDirectory();
  } catch {
    return false; // also when it can't be examined: then the error of making it says more
  }
}
