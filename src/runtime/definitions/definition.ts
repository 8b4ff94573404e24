/** The code that a call would be executed with. design.md 3. */
import type { Code } from '../../../grammar/ast.js';
import type { DefinitionPart } from '../../../journal/event.js';
import type { Fingerprint } from '../../../journal/ids.js';
import type { Reach } from './reachable-operations.js';
import type { Scope } from '../scope.js';

/** A function with everything it uses, and the guards and hooks that hold for it. */
export interface Definition {
  readonly fingerprint: Fingerprint;
  readonly parts: readonly DefinitionPart[];
  /** The operations that may happen while a function is executed. */
  readonly reach?: Reach;
}

/** Caches what follows from a definition: it never changes, but the modules that it refers to may. */
export interface DerivedCache {
  shape: DefinitionShape | undefined;
  definition: DatedDefinition | undefined;
}

/** A name, and the members that are read of it, as far as they are written: of `@tools.ask(…)` it is `ask`. */
export interface Use {
  readonly name: string;
  readonly members: readonly string[];
}

/** The tree of a definition without places, and the uses of names and the blocks of code in it. */
export interface DefinitionShape {
  readonly tree: readonly unknown[];
  readonly digest: string;
  readonly uses: readonly Use[];
  readonly code: readonly Code[];
}

export interface DatedDefinition {
  readonly definition: Definition;
  /** The scopes that were read, with their versions at that time. */
  readonly seen: readonly { readonly scope: Scope; readonly version: number }[];
}
