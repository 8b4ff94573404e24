/** Recognises lists that a glob returned. */
import { Annotated, type Value } from '../value.js';

/** True for a list with elements that are all loaded files. */
export function isFileList(data: Value): data is readonly Annotated[] {
  if (!Array.isArray(data) || data.length === 0) return false;
  // The first element decides for almost every list, so that long lists of plain data cost one test.
  return isLoadedFile(data[0]) && data.every(isLoadedFile);
}

function isLoadedFile(element: unknown): boolean {
  return element instanceof Annotated && element.metadata.file !== undefined;
}
