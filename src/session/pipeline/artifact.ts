/** The payload of an artifact that a run of the chain has stored. */
import type { Json } from '../../../journal/event.js';
import type { JournalStore } from '../../../journal/store.js';
import type { GraphState } from '../../../replay/pipeline/graph-state.js';

/** Undefined when there is no such artifact, or its event or payload can't be read. */
export async function readArtifact(store: JournalStore, { artifacts }: GraphState, id: string): Promise<Json | undefined> {
  const found = artifacts.get(id);
  const event = found && (await store.readAt(found.ref, found.position));
  return event?.type === 'artifact.stored' && event.id === id ? store.resolve(event.payload) : undefined;
}
