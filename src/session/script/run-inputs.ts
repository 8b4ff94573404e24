/** Turns the inputs of a run into what its first event records, and back into settings for a replay. */
import type { EventOf, Json } from '../../../journal/event.js';
import type { RecordedInputs } from '../../../journal/facts/run-event.js';
import type { JournalStore } from '../../../journal/store.js';
import type { Settings } from '../../runtime/settings.js';
import type { RunOptions } from './run-options.js';
import { toJson } from '../../values/native.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import { annotate, type Data, type Value } from '../../values/value.js';
import { HOOK_LIMIT_MS, PARALLEL_LIMIT, RECURSION_DEPTH } from './settings.js';

export interface RunInputs {
  readonly settings: Settings;
  readonly state: Value;
}

export async function inputFacts(options: RunOptions, { settings, state }: RunInputs, store: JournalStore): Promise<RecordedInputs> {
  const { projectRoot, workingDirectory, parallelLimit, recursionDepth, prefixes, modulesFolder, injected } = settings;
  // Defaults are left out.
  return withoutUndefined<RecordedInputs>({
    root: projectRoot,
    workingDirectory,
    mode: options.mode,
    errorBehavior: options.errorBehavior === 'halt' ? 'halt' : undefined,
    streaming: options.streaming ? undefined : false,
    structured: options.structured || undefined,
    parallelLimit: parallelLimit === PARALLEL_LIMIT ? undefined : parallelLimit,
    recursionDepth: recursionDepth === RECURSION_DEPTH ? undefined : recursionDepth,
    prefixes: prefixes.length === 0 ? undefined : prefixes,
    modulesFolder,
    injected: injected.size === 0 ? undefined : await store.payload(injectedJson(injected)),
    state: settings.hasState ? await store.payload(toJson(state)) : undefined,
  });
}

/** Returns the settings and the state of a recorded run; undefined when the journal doesn't hold them any more. */
export async function recordedInputs(
  { payload, given: inputs }: EventOf<'run.started'>,
  { root, scriptDirectory, store }: { readonly root: string; readonly scriptDirectory: string; readonly store: JournalStore },
): Promise<RunInputs | undefined> {
  const injected = inputs?.injected && (await store.resolve(inputs.injected));
  const state = inputs?.state && (await store.resolve(inputs.state));
  if ((inputs?.injected && injected === undefined) || (inputs?.state && state === undefined)) return undefined;
  return {
    settings: {
      projectRoot: root,
      workingDirectory: inputs?.workingDirectory ?? root,
      scriptDirectory,
      prefixes: inputs?.prefixes ?? [],
      ...(inputs?.modulesFolder !== undefined && { modulesFolder: inputs.modulesFolder }),
      payload: payload as Data,
      injected: injectedFrom(injected),
      hasState: inputs?.state !== undefined,
      errorBehavior: inputs?.errorBehavior ?? 'continue',
      streaming: inputs?.streaming ?? true,
      parallelLimit: inputs?.parallelLimit ?? PARALLEL_LIMIT,
      recursionDepth: inputs?.recursionDepth ?? RECURSION_DEPTH,
      hookLimitMs: HOOK_LIMIT_MS, // not used: a replay takes time-outs from the record
    },
    state: state === undefined ? undefined : annotate(state as Data, {}),
  };
}

function injectedJson(injected: Settings['injected']): Json {
  return [...injected].map(([name, module]) => [name, module.kind === 'data' ? { value: toJson(module.value) } : { text: module.text }]);
}

function injectedFrom(json: Json | undefined): Settings['injected'] {
  const entries = (json ?? []) as readonly (readonly [string, { readonly value: Json } | { readonly text: string }])[];
  return new Map(
    entries.map(([name, module]) => [
      name,
      'text' in module ? { kind: 'source', text: module.text } : { kind: 'data', value: module.value as Data },
    ]),
  );
}
