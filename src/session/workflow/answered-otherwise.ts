/**
 * Tells, for a plan, if another backend or model answers one of these agents now than the one that had answered it: then what agents had
 * cost says nothing of it.
 */
import type { CallKey } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import type { Parts } from '../../../replay/memo/definitions.js';
import { usableEntry } from '../../../replay/memo/memo.js';
import type { ForkSource } from '../../../replay/memo/overlay.js';
import { AGENT_FUNCTION } from '../../../replay/workflows/resolve-workflow-target.js';
import { definitionOfAgent } from '../../workflows/run/ask-agent.js';
import type { PlannedWork } from './planned-edits.js';
import { backendFor, modelFor } from './recorded-work.js';
import { backendNow, requestIn, startsIn } from './simulated-results.js';

export async function answeredOtherwise(
  store: JournalStore,
  sources: readonly Pick<ForkSource, 'memo' | 'definitions'>[],
  { options, settings }: PlannedWork,
  keys: readonly CallKey[],
): Promise<boolean> {
  const startsOf = startsIn(store);
  if ((settings.backend ?? options.project.config.agent?.backend) === undefined) return false; // only a run needs one
  const usual = settingsOf(definitionOfAgent(backendFor(options, settings.backend), modelFor(options, settings), {}, undefined).parts);
  for (const key of keys) {
    for (const { memo, definitions } of sources) {
      const entry = usableEntry(memo, key);
      const parts = entry?.fingerprint === undefined ? undefined : definitions.get(entry.fingerprint)?.parts;
      if (entry?.fn !== AGENT_FUNCTION || parts === undefined) continue;
      const then = settingsOf(parts);
      if (then === usual) continue;
      // It may name a backend or a model of its own.
      const start = (await startsOf(entry)).get(key);
      const request = start && (await requestIn(store, start));
      if (request === undefined) continue;
      const backend = backendFor(options, backendNow(request, { options, settings }));
      const now = definitionOfAgent(backend, request.model ?? modelFor(options, settings), request, undefined);
      if (then !== settingsOf(now.parts)) return true;
    }
  }
  return false;
}

function settingsOf(parts: Parts): string {
  return parts.flatMap(({ name, digest }) => (name === 'backend' || name === 'model' ? [digest] : [])).join(' ');
}
