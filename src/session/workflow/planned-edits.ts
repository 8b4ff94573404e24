/** Tells, for a plan, which results `--changed` does not reuse: their calls would be made another way now. workflows-js.md 6.3 and 7. */
import { sha256 } from '../../../journal/canonical.js';
import type { EventOf } from '../../../journal/event.js';
import type { CallKey } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { foldRun } from '../../../replay/fold/fold-run.js';
import type { Projection } from '../../../replay/fold/projection.js';
import { definitionChanges, isRefused, type Parts, type RecordedDefinition } from '../../../replay/memo/definitions.js';
import { usable, type UsableEntry } from '../../../replay/memo/memo.js';
import type { ForkSource } from '../../../replay/memo/overlay.js';
import { readPayload } from '../../../replay/reports/call/call-record.js';
import { VERSION } from '../../workflows/program/durable-call.js';
import type { AgentOptions } from '../../workflows/run/agent-options.js';
import { definitionOfAgent } from '../../workflows/run/ask-agent.js';
import type { RunOptions } from '../script/run-options.js';
import { agentDefinition } from './agent-definition.js';
import { backendFor, modelFor, type AgentSettings } from './recorded-work.js';

export interface PlannedWork {
  readonly options: RunOptions;
  readonly settings: AgentSettings;
  /** Goes into the fingerprint of every call of a program but those of agents. */
  readonly version?: string | undefined;
}

/** `--changed` compares them, and no plan can. */
export const NOT_COMPARED = 'hooks, guards and the functions of a program are compared when it runs: --changed may refuse more results';

/** Returns whether a recorded result is refused. Throws AGENT_BACKEND. */
export async function plannedEdits(
  store: JournalStore,
  sources: readonly Pick<ForkSource, 'memo' | 'definitions'>[],
  work: PlannedWork,
): Promise<(entry: UsableEntry) => boolean> {
  const { changed = 'serve' } = work.options.cache;
  const refused = new Set<string>();
  const runs = new Map<string, Promise<ReadonlyMap<CallKey, EventOf<'call.started'>>>>();
  for (const { memo, definitions } of changed === 'serve' ? [] : sources) {
    for (const [key, entry] of usable(memo)) {
      const { ref } = entry.result;
      const events = runs.get(ref.run) ?? foldRun(store, ref, starts);
      runs.set(ref.run, events);
      const start = (await events).get(key);
      const recorded = start && definitions.get(start.fingerprint);
      const parts = recorded && (await partsNow(start, recorded, store, work));
      const changes = parts ? definitionChanges(recorded, { parts, interceptors: false }) : [];
      if (isRefused({ definition: changes.length > 0, interceptors: false, changes }, changed)) refused.add(placeOf(entry));
    }
  }
  return (entry) => refused.has(placeOf(entry));
}

const starts: Projection<Map<CallKey, EventOf<'call.started'>>> = {
  initial: () => new Map(),
  apply: (state, event) => (event.type === 'call.started' ? state.set(event.key, event) : state),
};

function placeOf({ result: { ref, seq } }: UsableEntry): string {
  return `${ref.run}:${seq}`;
}

/** Undefined where nothing is known. */
async function partsNow(
  { args, key }: EventOf<'call.started'>,
  recorded: RecordedDefinition,
  store: JournalStore,
  { options, settings, version }: PlannedWork,
): Promise<Parts | undefined> {
  const body = recorded.parts.filter(({ kind }) => kind === 'body');
  if (body.length > 0)
    return [...body, ...(version === undefined ? [] : [{ kind: 'variable', name: VERSION, digest: sha256(version) } as const])];
  const read = await readPayload(store, args, key);
  if (!('value' in read) || !Array.isArray(read.value)) return undefined; // it holds a secret
  const request = read.value[1] as AgentOptions; // checked before it was recorded
  const definition = request.agentType === undefined ? undefined : agentDefinition(request.agentType, { ...options, home: settings.home });
  const model = request.model ?? modelFor(options, settings);
  return definitionOfAgent(backendFor(options, request.backend ?? settings.backend), model, request, definition).parts;
}
