/** The functions, guards and hooks that have a definition. */
import type { Exe, Guard, Hook } from '../../../grammar/ast.js';
import type { DerivedCache } from './definition.js';
import type { Module } from '../module.js';

export interface Definable {
  readonly name: string;
  /** Names that have values from outside the definition. */
  readonly params: readonly string[];
  readonly labels: readonly string[];
  readonly node: Exe | Guard | Hook;
  readonly module: Module;
  readonly derived: DerivedCache;
}

export interface Interceptor extends Definable {
  readonly node: Guard | Hook;
}
