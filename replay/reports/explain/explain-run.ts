/** Explains one recorded run: folds its workflow up to it, then reads the arguments of the few recorded calls that resemble a new one. */
import type { Json, JournalEvent } from '../../../journal/event.js';
import { placesLeft } from '../../../journal/facts/failed-calls.js';
import type { CallKey, RunId, RunRef, Seq, Workflow } from '../../../journal/ids.js';
import type { Defect, JournalStore, Position, RunFile } from '../../../journal/store.js';
import { textSimilarity } from '../text-similarity.js';
import { argumentDifferences, type ArgumentDifference } from './argument-diff.js';
import { definitionChanges, type DefinitionChange, type RecordedDefinition } from '../../memo/definitions.js';
import { explanation, type ExplainedCall, type Explanation } from './explain.js';
import { loadedModules, type LoadedModule } from './loaded-modules.js';
import type { ForkSource } from '../../memo/overlay.js';
import { loadWorkflow } from '../../memo/load.js';
import { foldRun } from '../../fold/fold-run.js';
import { isInside } from '../../fold/op-path.js';
import type { Projection } from '../../fold/projection.js';

/** The call of an earlier run that a new one most resembles, and the differences. */
export interface Resembles {
  readonly key: CallKey;
  readonly preview: string | undefined;
  /** Empty where the arguments are the same: then it differs in what it forwards. Absent where they can't be read. */
  readonly differences?: readonly ArgumentDifference[];
  /** The edit of the definition, where the call differs only in what it forwards, as far as it is recorded. */
  readonly changes?: readonly DefinitionChange[];
}

export interface ReportedCall extends ExplainedCall {
  /** Set for a call that no recorded run made. */
  readonly resembles?: Resembles;
  /** The call failed, and no longer counts: it was made again, or was part of an execution of another one that a further one followed. */
  readonly madeAgain?: true;
}

export interface RunExplanation {
  readonly workflow: Workflow;
  readonly run: RunId;
  /** The published modules that it loaded. */
  readonly modules: readonly LoadedModule[];
  readonly calls: readonly ReportedCall[];
}

/** Candidates compared with a call at a place where no earlier run made one: a bound on the work. */
const CANDIDATES_MAX = 200;
/** A call resembles another when at least this part of the longer preview is common to both. */
const ALIKE_MIN = 0.5;

export interface ExplainOptions {
  readonly onDefect: (defect: Defect) => void;
  /** Only calls in this operation. */
  readonly op?: string | undefined;
}

export async function explainRun(store: JournalStore, { ref }: RunFile, { onDefect, op }: ExplainOptions): Promise<RunExplanation> {
  const projection = explanation(ref.run, await forkSourcesOf(store, ref, onDefect));
  let state = projection.initial();
  let modules = loadedModules.initial();
  for (const file of await store.runs(ref.workflow)) {
    if (file.ref.run > ref.run) break;
    const apply = (event: JournalEvent, position: Position): void => {
      const place = { ref: file.ref, position };
      state = projection.apply(state, event, place);
      modules = loadedModules.apply(modules, event, place);
    };
    await store.scan(file.ref, apply, { onDefect });
  }
  const resembling = findResembling(state);
  const calls: ReportedCall[] = [];
  for (const call of await named(store, ref, state.calls)) {
    if (op !== undefined && !isInside(call.op, op)) continue;
    const earlier = resembling.get(call);
    const resembles = earlier === undefined ? undefined : await differing(store, state, call, earlier);
    calls.push({ ...call, ...(resembles && { resembles }), ...(isMadeAgain(state, call) && { madeAgain: true }) });
  }
  return { workflow: ref.workflow, run: ref.run, modules: [...modules.loaded.values()], calls };
}

function isMadeAgain({ ledger: { failures } }: Explanation, { key, op, outcome }: ExplainedCall): boolean {
  if (outcome !== 'failed' && outcome !== 'not-executed') return false;
  return !placesLeft(failures, key).has(op);
}

/** Fills in previews of calls that workers executed for the run: their arguments are in the runs of the workers, which began later. */
async function named(store: JournalStore, { workflow }: RunRef, calls: readonly ExplainedCall[]): Promise<readonly ExplainedCall[]> {
  const isNameless = ({ hit, preview }: ExplainedCall): boolean => hit !== undefined && preview === undefined;
  if (!calls.some(isNameless)) return calls;
  // Damage in runs that came later is not part of this report.
  const { entries } = (await loadWorkflow(store, workflow, { onDefect: () => undefined })).memo;
  return calls.map((call) => (isNameless(call) ? { ...call, preview: entries.get(call.key)?.preview } : call));
}

/** Loads the fork sources up to the run or event that the run recorded, else as they are now. */
async function forkSourcesOf(store: JournalStore, ref: RunRef, onDefect: (defect: Defect) => void): Promise<ForkSource[]> {
  const forkSources: ForkSource[] = [];
  for (const { workflow, run, seq } of await foldRun(store, ref, forkRefs)) {
    const until = run === undefined ? {} : { until: { run, ...(seq !== undefined && { seq }) } };
    const { memo, definitions } = await loadWorkflow(store, workflow, { onDefect, ...until });
    forkSources.push({ workflow, memo, definitions });
  }
  return forkSources;
}

interface ForkRef {
  readonly workflow: Workflow;
  readonly run?: RunId;
  readonly seq?: Seq;
}

const forkRefs: Projection<readonly ForkRef[]> = {
  initial: () => [],
  apply: (state, event) => (event.type === 'run.started' ? (event.forks ?? []) : state),
};

// ---- calls that a new one resembles

/** Finds an earlier call of the same function that this run does not make any more: at the same place, else the most similar. */
function findResembling(state: Explanation): ReadonlyMap<ExplainedCall, CallKey> {
  const asked = new Set(state.calls.map(({ key }) => key));
  const found = new Map<ExplainedCall, CallKey>();
  const isNew = ({ miss }: ExplainedCall): boolean => miss?.why === 'new';
  for (const call of state.calls.filter(isNew)) {
    const there = state.earlier.get(call.fn)?.get(call.op);
    if (there !== undefined && !asked.has(there)) {
      found.set(call, there);
      asked.add(there);
    }
  }
  for (const call of state.calls.filter(isNew)) {
    if (found.has(call)) continue;
    const candidates = [...new Set(state.earlier.get(call.fn)?.values())].filter((key) => !asked.has(key)).slice(0, CANDIDATES_MAX);
    const scored = candidates.map((key) => ({ key, alike: textSimilarity(previewOf(state, key), call.preview) }));
    const best = scored.reduce<(typeof scored)[number] | undefined>(
      (top, each) => (top === undefined || each.alike > top.alike ? each : top),
      undefined,
    );
    if (best !== undefined && best.alike >= ALIKE_MIN) {
      found.set(call, best.key);
      asked.add(best.key);
    }
  }
  return found;
}

function previewOf({ index }: Explanation, key: CallKey): string | undefined {
  return index.memo.entries.get(key)?.preview;
}

async function differing(store: JournalStore, state: Explanation, call: ExplainedCall, earlier: CallKey): Promise<Resembles> {
  const [before, now] = [await argumentsOf(store, state, earlier), await argumentsOf(store, state, call.key)];
  const preview = previewOf(state, earlier);
  if (before === undefined || now === undefined) return { key: earlier, preview };
  const differences = argumentDifferences(before, now);
  const changes =
    differences.length === 0 ? { changes: definitionChanges(definitionOf(state, earlier), definitionOf(state, call.key)) } : {};
  return { key: earlier, preview, differences, ...changes };
}

function definitionOf({ index }: Explanation, key: CallKey): RecordedDefinition | undefined {
  const fingerprint = index.memo.entries.get(key)?.fingerprint;
  return fingerprint === undefined ? undefined : index.definitions.get(fingerprint);
}

async function argumentsOf(store: JournalStore, { argumentsOf: asked }: Explanation, key: CallKey): Promise<readonly Json[] | undefined> {
  const place = asked.get(key);
  const event = place && (await store.readAt(place.ref, place.position));
  if (event?.type !== 'call.started' || event.key !== key) return undefined;
  const value = await store.resolve(event.args);
  return Array.isArray(value) ? (value as readonly Json[]) : undefined;
}
