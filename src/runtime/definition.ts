/** The code that a call would be executed with. design.md 3. */
import type { Exe, Guard, Hook } from '../../grammar/ast.js';
import type { DefinitionPart } from '../../journal/event.js';
import type { Fingerprint } from '../../journal/ids.js';
import type { Module } from './module.js';
import type { Reach } from './reach.js';

/** A function with everything it uses, and the guards and hooks that hold for it. */
export interface Definition {
  readonly fingerprint: Fingerprint;
  readonly parts: readonly DefinitionPart[];
  /** Of a function: the operations that may happen while it is executed. */
  readonly reach?: Reach;
}

/** A function, a guard or a hook. */
export interface Definable {
  readonly name: string;
  /** Names that have values from outside the definition. */
  readonly params: readonly string[];
  readonly labels: readonly string[];
  readonly node: Exe | Guard | Hook;
  readonly module: Module;
  /** Caches what follows from the whole definition, by name: see `operation/fingerprint.ts`. */
  readonly derived: Map<string, unknown>;
}

export interface Interceptor extends Definable {
  readonly node: Guard | Hook;
}
