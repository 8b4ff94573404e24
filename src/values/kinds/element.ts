/** Elements of lists: which lists are what a glob gives. */
import { Annotated, type Value } from '../value.js';

/** A list with elements, all of them loaded files. */
export function isFileList(data: Value): data is readonly Annotated[] {
  if (!Array.isArray(data) || data.length === 0) return false;
  // The first element decides for almost every list, so that long lists of plain data cost one test.
  return isLoadedFile(data[0]) && data.every(isLoadedFile);
}

function isLoadedFile(element: unknown): boolean {
  return element instanceof Annotated && element.note.file !== undefined;
}
