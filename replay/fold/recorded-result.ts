/** A recorded result: what it takes to make the value again. */
import type { EventOf, Json, ResultForm, ResultMetadata } from '../../journal/event.js';
import type { JournalStore } from '../../journal/store.js';

export interface RecordedResult {
  readonly json: Json;
  readonly form: ResultForm | undefined;
  readonly notes: readonly ResultMetadata[];
}

/** Undefined when the journal no longer holds all of it as it was written. Metadata that was redacted counts as no metadata. */
export async function resolveResult(
  store: Pick<JournalStore, 'resolve'>,
  { key, result, form, notes }: Pick<EventOf<'call.completed'>, 'key' | 'result' | 'form' | 'notes'>,
): Promise<RecordedResult | undefined> {
  const json = await store.resolve(result, key);
  if (json === undefined) return undefined;
  if (notes === undefined || 'redacted' in notes || 'digest' in notes) return { json, form, notes: [] };
  const list = await store.resolve(notes, `${key} notes`); // what it was sealed for
  return list === undefined ? undefined : { json, form, notes: list as unknown as readonly ResultMetadata[] };
}
