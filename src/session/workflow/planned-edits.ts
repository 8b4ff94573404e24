/** Tells, for a plan, which results `--changed` does not reuse: their calls would be made another way now. workflows-js.md 6.3 and 7. */
import path from 'node:path';
import { sha256 } from '../../../journal/canonical.js';
import type { EventOf } from '../../../journal/event.js';
import type { CallKey, Fingerprint } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { foldRun } from '../../../replay/fold/fold-run.js';
import type { Projection } from '../../../replay/fold/projection.js';
import {
  completeDefinition,
  definitionChanges,
  isInterceptor,
  isRefused,
  type Parts,
  type RecordedDefinition,
} from '../../../replay/memo/definitions.js';
import { usable, type UsableEntry } from '../../../replay/memo/memo.js';
import type { ForkSource } from '../../../replay/memo/overlay.js';
import { readPayload } from '../../../replay/reports/call/call-record.js';
import { AGENT_FUNCTION } from '../../../replay/workflows/resolve-workflow-target.js';
import { createModule } from '../../language/source-module.js';
import { withInterceptors } from '../../operation/interceptors.js';
import type { Definition } from '../../runtime/definitions/definition.js';
import type { Data } from '../../values/value.js';
import { loadModuleFile } from '../../modules/called-module.js';
import { crashed } from '../../workflows/backends/executable.js';
import { VERSION } from '../../workflows/program/durable-call.js';
import type { AgentOptions } from '../../workflows/run/agent-options.js';
import { definitionOfAgent, labelsOf } from '../../workflows/run/ask-agent.js';
import type { World } from '../../world/world.js';
import { currentInterceptors } from '../script/current-definitions.js';
import type { RunOptions } from '../script/run-options.js';
import { agentDefinition } from './workflow-files.js';
import { backendFor, modelFor, SIMULATED, type AgentSettings } from './recorded-work.js';

export interface PlannedWork {
  readonly options: RunOptions;
  readonly settings: AgentSettings;
  /** Goes into the fingerprint of every call of a program but those of agents. */
  readonly version?: string | undefined;
}

/** Compares the recorded calls with what is there now. */
interface Now {
  readonly world: World;
  /** The label of a recorded call. */
  readonly labelOf: (key: CallKey) => string | undefined;
}

/** `--changed` compares them, and no plan can. */
export const NOT_COMPARED = 'the functions of a program are compared when it runs: --changed may refuse more results';

/** Returns whether a recorded result is refused. Throws AGENT_BACKEND. */
export async function plannedEdits(
  store: JournalStore,
  sources: readonly Pick<ForkSource, 'memo' | 'definitions'>[],
  work: PlannedWork,
  now: Now,
): Promise<(entry: UsableEntry) => boolean> {
  const { changed = 'serve' } = work.options.cache;
  if (changed === 'serve') return () => false;
  const held = await interceptorsNow(store, work, now);
  const refused = new Set<string>();
  const runs = new Map<string, Promise<ReadonlyMap<CallKey, EventOf<'call.started'>>>>();
  for (const { memo, definitions } of sources) {
    for (const [key, entry] of usable(memo)) {
      const { ref } = entry.result;
      const events = runs.get(ref.run) ?? foldRun(store, ref, starts);
      runs.set(ref.run, events);
      const start = (await events).get(key);
      const recorded = start && definitions.get(start.fingerprint);
      const parts = recorded && (await partsNow(start, recorded, store, work));
      const changes = parts ? definitionChanges(recorded, completeDefinition([...parts, ...(await held(start))])) : [];
      const interceptors = changes.some(isInterceptor);
      const definition = changes.some((each) => !isInterceptor(each));
      if (isRefused({ definition, interceptors, changes }, changed)) refused.add(placeOf(entry));
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

/** Returns the parts of the guards that would be asked about a recorded call, which are those of the module of the configuration. */
async function interceptorsNow(
  store: JournalStore,
  { options }: PlannedWork,
  { world, labelOf }: Now,
): Promise<(start: EventOf<'call.started'>) => Promise<Parts>> {
  const { root, config } = options.project;
  const hooks = config.agent?.hooks;
  if (hooks === undefined) return async () => [];
  const module = createModule({ path: path.join(root, options.name), display: options.name, directory: root, text: '', isMain: true });
  const request = { module, options, world };
  const interceptors = await currentInterceptors(request, (frame) => loadModuleFile(path.resolve(root, hooks), frame, crashed));
  const secrets = await store.knownSecrets().catch(() => undefined);
  const keyed = async (text: string): Promise<string> => secrets?.digest(text) ?? sha256(text);
  return async ({ op, fn, key, args }) => {
    const kind = /([a-z]+)~[^/]*$/.exec(op)?.[1] ?? fn;
    const read = await readPayload(store, args, key);
    const inputs = 'value' in read && Array.isArray(read.value) ? (read.value as Data[]) : [];
    const label = labelOf(key);
    const params = inputs.map((_, index) => `${index + 1}`);
    const call = { declared: fn, called: [fn], params, site: () => undefined, declaredAt: () => '', repeatable: false };
    const labels = ['llm', ...(kind === AGENT_FUNCTION ? labelsOf(label) : [])];
    const operation = { kind, segment: kind, name: label ?? null, labels, inputs, call };
    const none: Definition = { fingerprint: '' as Fingerprint, parts: [] };
    return (await withInterceptors(none, interceptors.holding(operation, undefined, 'nothing'), keyed)).parts;
  };
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
  const isSimulated = options.script.kind === 'file' && settings.backend === SIMULATED; // as in a run: whatever a script names
  const backend = backendFor(options, isSimulated ? SIMULATED : (request.backend ?? settings.backend));
  return definitionOfAgent(backend, model, request, definition).parts;
}
