/** Names and their values. values.md 3, control.md 2.3 and 6. */
import type { Value } from '../values/value.js';

export type BindingKind = 'var' | 'let' | 'exe' | 'import' | 'param' | 'loop' | 'ambient';

export interface Binding {
  readonly name: string;
  value: Value;
  readonly kind: BindingKind;
  /** Offset of the declaration in its file. */
  readonly at?: number;
  /** Loop variables: position (arrays) and key. */
  readonly index?: number;
  readonly key?: string;
}

/**
 * `module`: a file. `function`: parameters and locals of one call, directly below its module. `block`: brackets, an iteration.
 * `choice`: the entries and arms of a `when` that is a value, where a `let` may hide a name of the module. `branch`: an iteration that
 * runs concurrently with others and may not change what they share.
 */
export type ScopeKind = 'module' | 'function' | 'block' | 'choice' | 'branch';

export class Scope {
  private names: Map<string, Binding> | undefined;
  /** Holds what is piped into a function that is called as a stage. */
  piped: Value;
  /** Counts changes of a module's names, so that results derived from them can be cached until the next. */
  version = 0;

  constructor(
    readonly kind: ScopeKind,
    readonly parent?: Scope,
  ) {}

  own(name: string): Binding | undefined {
    return this.names?.get(name);
  }

  find(name: string): Binding | undefined {
    for (let scope: Scope | undefined = this; scope; scope = scope.parent) {
      const binding = scope.names?.get(name);
      if (binding) return binding;
    }
    return undefined;
  }

  /** Finds a parameter, a loop variable or a name of a block: no name of the module, and none that the language declares. */
  findLocal(name: string): Binding | undefined {
    for (let scope: Scope | undefined = this; scope && scope.kind !== 'module'; scope = scope.parent) {
      const binding = scope.names?.get(name);
      if (binding) return binding.kind === 'ambient' ? undefined : binding;
    }
    return undefined;
  }

  define(binding: Binding): void {
    (this.names ??= new Map()).set(binding.name, binding);
    if (this.kind === 'module') this.version++;
  }

  /** Returns the nearest binding; `shared`: it is outside an iteration that runs concurrently with others. */
  findForChange(name: string): { readonly binding: Binding; readonly owner: Scope; readonly shared: boolean } | undefined {
    let shared = false;
    for (let scope: Scope | undefined = this; scope; scope = scope.parent) {
      const binding = scope.names?.get(name);
      if (binding) return { binding, owner: scope, shared };
      if (scope.kind === 'branch') shared = true;
    }
    return undefined;
  }

  /** Returns the binding that a `let` of this name must not hide: a parameter of the same function or a name of the module. */
  takenFor(name: string): Binding | undefined {
    let mayHide = false;
    for (let scope: Scope | undefined = this; scope; scope = scope.parent) {
      if (scope.kind === 'choice') mayHide = true;
      const binding = scope.names?.get(name);
      if (!binding) continue;
      if (scope.kind === 'module' && binding.kind !== 'ambient' && !mayHide) return binding;
      if (binding.kind === 'param') return binding;
    }
    return undefined;
  }

  *entries(): IterableIterator<Binding> {
    if (this.names) yield* this.names.values();
  }

  /** Returns the names that are visible here, for "did you mean". */
  visible(): string[] {
    const names: string[] = [];
    for (let scope: Scope | undefined = this; scope; scope = scope.parent) if (scope.names) names.push(...scope.names.keys());
    return names;
  }
}
