/** Lists what a loop iterates over: the elements of an array, or the entries of an object in the order of its keys. control.md 11.2. */
import { Callable } from './kinds/callable.js';
import { partOf } from './failures.js';
import { annotate, Annotated, dataOf, HostObject, labelsOf, metadataOf, sourcesOf, type DataObject, type Value } from './value.js';

export interface Entry {
  readonly value: Value;
  /** Is the property name, or the position as text. */
  readonly key: string;
  /** Is the position, for arrays only. */
  readonly index?: number;
}

/** Returns undefined for anything but an array or an object. Elements carry the labels of the collection. */
export function entriesOf(source: Value): Entry[] | undefined {
  const data = dataOf(source);
  if (typeof data !== 'object' || data === null || data instanceof Callable || data instanceof HostObject) return undefined;
  const labels = labelsOf(source);
  const sources = sourcesOf(source);
  const plain = labels.length === 0 && sources.length === 0 && metadataOf(source)?.failures === undefined;
  const labelled = (value: Value): Value => {
    if (plain) return value ?? null;
    if (value instanceof Annotated) return partOf(value.withMetadata({ ...value.metadata, labels, sources }), source);
    return partOf(annotate(value ?? null, { labels, sources }), source);
  };
  if (Array.isArray(data)) return data.map((value: Value, index) => ({ value: labelled(value), key: String(index), index }));
  return Object.entries(data as DataObject).map(([key, value]) => ({ value: labelled(value), key }));
}
