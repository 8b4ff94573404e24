/** Folds the runs of a workflow to the published modules that the last of them loaded, each with what the runs before it had. */
import type { RunId } from '../../../journal/ids.js';
import type { Projection } from '../../fold/projection.js';

interface ModuleContent {
  readonly version?: string;
  readonly sha256: string;
}

export interface LoadedModule {
  readonly name: string;
  readonly version?: string;
  readonly sha256: string;
  /** Is the content that the latest earlier run had loaded, where it differs. */
  readonly before?: { readonly version?: string; readonly sha256: string };
}

interface State {
  run: RunId | undefined;
  /** By name. */
  readonly earlier: Map<string, ModuleContent>;
  readonly loaded: Map<string, LoadedModule>;
}

export const loadedModules: Projection<State> = {
  initial: () => ({ run: undefined, earlier: new Map(), loaded: new Map() }),
  apply(state, event, { ref: { run } }) {
    if (event.type !== 'source.loaded' && event.type !== 'run.started') return state;
    if (run !== state.run) {
      for (const { before: _, ...module } of state.loaded.values()) state.earlier.set(module.name, module);
      state.loaded.clear();
      state.run = run;
    }
    if (event.type !== 'source.loaded' || !event.module) return state;
    const { module } = event;
    const { version, sha256 } = state.earlier.get(module.name) ?? module;
    const before = sha256 === module.sha256 ? {} : { before: { ...(version !== undefined && { version }), sha256 } };
    state.loaded.set(module.name, { ...module, ...before });
    return state;
  },
};
