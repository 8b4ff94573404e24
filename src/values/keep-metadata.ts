/**
 * Implements `@keep(v)` and `.keep`: code bodies see a loaded file with its metadata (values.md 12, world.md 5.4). The value itself is
 * unchanged; of a list the loaded elements are marked.
 */
import { mxObject } from './metadata.js';
import { readAs } from './kinds/native-text.js';
import { textOf } from './text.js';
import { Annotated, type Value } from './value.js';

/** Returns the value itself when nothing in it was loaded from a file. */
export function kept(value: Value): Value {
  if (!(value instanceof Annotated)) return Array.isArray(value) ? value.map(kept) : value;
  if (value.metadata.file) return value.withMetadata({ ...value.metadata, isKept: true });
  return Array.isArray(value.data) ? new Annotated(value.data.map(kept), value.metadata) : value;
}

/** True when `.keep` means this function and not a field. */
export function canKeep(value: Value): boolean {
  if (!(value instanceof Annotated)) return Array.isArray(value) && value.some(canKeep);
  return value.metadata.file !== undefined || (Array.isArray(value.data) && value.data.some(canKeep));
}

/** Makes the object that a code body gets for a file. As a text it reads as the raw text of the file. */
export function keptForCode(value: Annotated, toNative: (value: Value) => unknown): object {
  const text = textOf(value);
  const mx = toNative(mxObject(value)) as { readonly type?: unknown };
  return readAs({ data: toNative(value.data), text, type: mx.type, mx }, text);
}
