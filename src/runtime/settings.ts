/** The settings of one run that its code can see or feel. */
import type { Value } from '../values/value.js';
import type { ResolverPrefix } from '../world/files/resolver-prefix.js';

export interface Settings {
  readonly projectRoot: string;
  /** The folder of the running script: relative writes of imported functions go there. */
  readonly scriptDirectory: string;
  readonly workingDirectory: string;
  readonly prefixes: readonly ResolverPrefix[];
  /** The absolute folder of published modules, where the configuration names one; else `.mlld/modules` of the project. */
  readonly modulesFolder?: string;
  readonly payload: Value;
  /** Injected modules by name with its at sign: data or source. */
  readonly injected: ReadonlyMap<
    string,
    { readonly kind: 'data'; readonly value: Value } | { readonly kind: 'source'; readonly text: string }
  >;
  readonly hasState: boolean;
  readonly errorBehavior: 'continue' | 'halt';
  readonly streaming: boolean;
  readonly recursionDepth: number;
  readonly parallelLimit: number;
  /** The longest that one firing of a hook may take. */
  readonly hookLimitMs: number;
}
