/** A file whose code runs, and what it exports. world.md 12. */
import type { Value } from '../values/value.js';
import type { Executable } from './definitions/executable.js';
import type { Scope } from './scope.js';

export interface Module {
  /** Absolute path, or the label of code that is no file. */
  readonly path: string;
  /** As messages show it. */
  readonly display: string;
  readonly directory: string;
  readonly text: string;
  readonly scope: Scope;
  readonly isMain: boolean;
  /** Statements with effects at the top level are skipped: the module is being imported. */
  readonly silent: boolean;
  /** The module that imports this one first, and waits for it. */
  readonly importedBy?: Module;
  readonly exports: Set<string>;
  /** `exe js = { … }` by language. */
  readonly shadows: Map<string, readonly Executable[]>;
  /** `file:line:column` by offset, for the places that were looked up. */
  readonly sites: Map<number, string>;
}

export interface ModuleExports {
  readonly module: Module;
  readonly values: ReadonlyMap<string, Value>;
  /** Names of guards and hooks. They hold already when the module is evaluated, so an import by name binds no value. */
  readonly interceptors: ReadonlySet<string>;
  /** False: the module has no export list, and reading a missing name gives null. */
  readonly listed: boolean;
  readonly frontmatter: Value;
}
