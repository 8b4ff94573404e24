/** Turns the inputs of a run into what its first event records, and back into settings for a replay. */
import type { EventOf, Json } from '../../../journal/event.js';
import type { RecordedInputs } from '../../../journal/run-event.js';
import type { JournalStore } from '../../../journal/store.js';
import type { Settings } from '../../runtime/settings.js';
import type { RunOptions } from './run-options.js';
import { toJson } from '../../values/native.js';
import { annotate, type Data, type Value } from '../../values/value.js';
import { HOOK_LIMIT_MS, PARALLEL_LIMIT, RECURSION_DEPTH } from './settings.js';

export interface RunInputs {
  readonly settings: Settings;
  readonly state: Value;
}

export async function inputFacts(options: RunOptions, { settings, state }: RunInputs, store: JournalStore): Promise<RecordedInputs> {
  const { projectRoot, workingDirectory, parallelLimit, recursionDepth, prefixes, injected } = settings;
  return {
    root: projectRoot,
    workingDirectory,
    ...(options.mode === undefined ? {} : { mode: options.mode }),
    ...(options.errorBehavior === 'halt' ? { errorBehavior: 'halt' } : {}),
    ...(options.streaming ? {} : { streaming: false }),
    ...(options.structured ? { structured: true } : {}),
    ...(parallelLimit === PARALLEL_LIMIT ? {} : { parallelLimit }),
    ...(recursionDepth === RECURSION_DEPTH ? {} : { recursionDepth }),
    ...(prefixes.length === 0 ? {} : { prefixes }),
    ...(injected.size === 0 ? {} : { injected: await store.payload(injectedJson(injected)) }),
    ...(settings.hasState ? { state: await store.payload(toJson(state)) } : {}),
  };
}

/** Returns the settings and the state of a recorded run; undefined when the journal doesn't hold them any more. */
export async function recordedInputs(
  { payload, given }: EventOf<'run.started'>,
  { root, scriptDirectory, store }: { readonly root: string; readonly scriptDirectory: string; readonly store: JournalStore },
): Promise<RunInputs | undefined> {
  const injected = given?.injected && (await store.resolve(given.injected));
  const state = given?.state && (await store.resolve(given.state));
  if ((given?.injected && injected === undefined) || (given?.state && state === undefined)) return undefined;
  return {
    settings: {
      projectRoot: root,
      workingDirectory: given?.workingDirectory ?? root,
      scriptDirectory,
      prefixes: given?.prefixes ?? [],
      payload: payload as Data,
      injected: injectedFrom(injected),
      hasState: given?.state !== undefined,
      errorBehavior: given?.errorBehavior ?? 'continue',
      streaming: given?.streaming ?? true,
      parallelLimit: given?.parallelLimit ?? PARALLEL_LIMIT,
      recursionDepth: given?.recursionDepth ?? RECURSION_DEPTH,
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
