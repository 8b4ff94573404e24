/**
 * Tells, for a plan, which results are not reused because their calls would be made another way now: simulated ones where calls are not
 * simulated, and those that `--changed` refuses. workflows-js.md 6.3 and 7.
 */
import path from 'node:path';
import { sha256 } from '../../../journal/canonical.js';
import type { EventOf } from '../../../journal/event.js';
import { textOfRef, type CallKey, type Fingerprint } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import {
  completeDefinition,
  definitionChanges,
  isInterceptor,
  isRefused,
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
import type { AgentBackend } from '../../workflows/backends/backend.js';
import { crashed } from '../../workflows/backends/executable.js';
import { agentBackend } from '../../workflows/backends/select-backend.js';
import { VERSION } from '../../workflows/program/durable-call.js';
import { definitionOfAgent, labelsOf } from '../../workflows/run/ask-agent.js';
import type { World } from '../../world/world.js';
import { currentModules } from '../script/current-definitions.js';
import type { RunOptions } from '../script/run-options.js';
import { agentDefinition } from './workflow-files.js';
import { backendFor, modelFor, type AgentSettings } from './recorded-work.js';
import { backendNow, notOffered, requestIn, startsIn } from './simulated-results.js';

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
  const memos = sources.map(({ memo }) => memo);
  const isNotOffered = await notOffered(store, memos, work);
  if (changed === 'serve') return isNotOffered;
  const there = await programNow(store, work, now);
  const refused = new Set<string>();
  const startsOf = startsIn(store);
  for (const { memo, definitions } of sources) {
    for (const [key, entry] of usable(memo)) {
      const { ref, seq } = entry.result;
      const start = (await startsOf(entry)).get(key);
      const recorded = start && definitions.get(start.fingerprint);
      const own = recorded && (await definitionNow(start, recorded, { store, work, there }));
      const parts = own && (await there.withHeld(start, own)).parts;
      const changes = parts ? definitionChanges(recorded, completeDefinition(parts)) : [];
      const interceptors = changes.some(isInterceptor);
      const definition = changes.some((each) => !isInterceptor(each));
      if (isRefused({ definition, interceptors, changes }, changed)) refused.add(textOfRef({ run: ref.run, seq }));
    }
  }
  return (entry) => isNotOffered(entry) || refused.has(textOfRef({ run: entry.result.ref.run, seq: entry.result.seq }));
}

/** Completes the definitions of calls by what there is beside their settings. */
interface ProgramNow {
  /** Adds the function that is the backend. */
  complete(own: Definition, backend: AgentBackend): Promise<Definition>;
  /** Adds the guards that would be asked about a recorded call. */
  withHeld(start: EventOf<'call.started'>, own: Definition): Promise<Definition>;
}

/** Reads the modules of the configuration and of backends that are functions. */
async function programNow(store: JournalStore, { options, settings }: PlannedWork, { world, labelOf }: Now): Promise<ProgramNow> {
  const { root, config } = options.project;
  const { hooks, backend, backends = [] } = config.agent ?? {};
  const named = [...new Set([settings.backend ?? backend, ...backends])].filter((each) => each?.startsWith('exe:') === true);
  if (hooks === undefined && named.length === 0) return { complete: async (own) => own, withHeld: async (_start, own) => own };
  const functions = new Map(named.map((written) => agentBackend(written, { directory: root, words: {} })).map((each) => [each.name, each]));
  const module = createModule({ path: path.join(root, options.name), display: options.name, directory: root, text: '', isMain: true });
  const none: Definition = { fingerprint: '' as Fingerprint, parts: [] };
  const declared = await currentModules({ module, options, world }, async (frame) => {
    if (hooks !== undefined) await loadModuleFile(path.resolve(root, hooks), frame, crashed);
    for (const each of functions.values()) await each.complete?.(none, frame); // its guards hold from then on
  });
  const secrets = await store.knownSecrets().catch(() => undefined);
  const keyed = async (text: string): Promise<string> => secrets?.digest(text) ?? sha256(text);
  const { run } = declared;
  const frame = { ...declared, run: { ...run, cache: { ...run.cache, digest: keyed } } };
  return {
    complete: async (own, { name }) => functions.get(name)?.complete?.(own, frame) ?? own,
    async withHeld({ op, fn, key, args }, own) {
      const kind = /([a-z]+)~[^/]*$/.exec(op)?.[1] ?? fn;
      const read = await readPayload(store, args, key);
      const inputs = 'value' in read && Array.isArray(read.value) ? (read.value as Data[]) : [];
      const label = labelOf(key);
      const params = inputs.map((_, index) => `${index + 1}`);
      const call = { declared: fn, called: [fn], params, site: () => undefined, declaredAt: () => '', repeatable: false };
      const labels = ['llm', ...(kind === AGENT_FUNCTION ? labelsOf(label) : [])];
      const operation = { kind, segment: kind, name: label ?? null, labels, inputs, call };
      const held = run.interceptors.holding(operation, own.reach, 'nothing');
      // An older program did not look for some of them, and the plan can't tell for which.
      return withInterceptors(own, held, keyed, undefined, own.parts.some((part) => part.inBackend) ? held : []);
    },
  };
}

interface ComparedWith {
  readonly store: JournalStore;
  readonly work: PlannedWork;
  readonly there: ProgramNow;
}

/** Undefined where nothing is known. Its guards are left out. */
async function definitionNow(
  { args, key }: EventOf<'call.started'>,
  recorded: RecordedDefinition,
  { store, work: { options, settings, version }, there }: ComparedWith,
): Promise<Definition | undefined> {
  const body = recorded.parts.filter(({ kind }) => kind === 'body');
  if (body.length > 0) {
    const parts = [...body, ...(version === undefined ? [] : [{ kind: 'variable', name: VERSION, digest: sha256(version) } as const])];
    return { fingerprint: '' as Fingerprint, parts };
  }
  const request = await requestIn(store, { args, key });
  if (request === undefined) return undefined;
  const definition = request.agentType === undefined ? undefined : agentDefinition(request.agentType, { ...options, home: settings.home });
  const model = request.model ?? modelFor(options, settings);
  const backend = backendFor(options, backendNow(request, { options, settings }));
  return there.complete(definitionOfAgent(backend, model, request, definition), backend);
}
