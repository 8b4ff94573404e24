/** Editors name files by addresses: `file:///home/ada/tide.mld`. */
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Returns undefined for a text that is no file, such as one that was never saved. */
export function fileOf(uri: string): string | undefined {
  return uri.startsWith('file:') ? path.resolve(fileURLToPath(uri)) : undefined;
}

export function uriOf(file: string): string {
  return pathToFileURL(file).href;
}
