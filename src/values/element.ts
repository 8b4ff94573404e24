/** What becomes of a value that is put into a collection (V1 in value.ts). */
import { Annotated, type Value } from './value.js';

/** The plain data; a loaded file stays as it is, so that `@files[0].mx.filename` works. */
export function asElement(value: Value): Value {
  if (!(value instanceof Annotated)) return value === undefined ? null : value;
  return value.note.file ? value : value.data;
}

/** A non-empty list whose elements are loaded files: what a glob gives. */
export function isFileList(data: Value): data is readonly Annotated[] {
  if (!Array.isArray(data) || data.length === 0) return false;
  // The first element decides for almost every list, so that long lists of plain data cost one test.
  return isLoadedFile(data[0]) && data.every(isLoadedFile);
}

function isLoadedFile(element: unknown): boolean {
  return element instanceof Annotated && element.note.file !== undefined;
}
