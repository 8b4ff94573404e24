/** The hooks of a run. instrumentation.md 5.2 and 5.3. */
import type { Hook } from '../../grammar/ast.js';
import { MlldError } from '../errors.js';
import { isStatement } from '../language/statements/statement-kinds.js';
import type { Interceptor } from '../runtime/definitions/definable.js';
import { locationOf } from '../runtime/errors.js';
import type { Frame } from '../runtime/frame.js';
import type { Module } from '../runtime/module.js';
import type { Operation } from '../runtime/operation.js';
import type { Reach } from '../runtime/definitions/reachable-operations.js';
import { FilterTable, functionNames, kindsOf, type Names, type Watcher } from './filter.js';
import { interceptor } from './interceptor.js';

export interface RegisteredHook extends Watcher {
  /** The name, or `<unnamed-hook-N>`. */
  readonly id: string;
  readonly node: Hook;
  /** The file that declares it. */
  readonly module: Module;
  readonly interceptor: Interceptor;
}

export class HookRegistry {
  private readonly names = new Set<string>();
  private readonly tables = { before: new FilterTable<RegisteredHook>(), after: new FilterTable<RegisteredHook>() };
  private count = 0;
  /** True when a hook on `op:for:batch` exists. */
  watchesBatches = false;

  get isEmpty(): boolean {
    return this.count === 0;
  }

  /** Throws DUPLICATE_HOOK: names are unique in a run, modules included. */
  register(node: Hook, { module }: Frame): void {
    const { name, filter, timing } = node;
    if (name !== undefined && this.names.has(name)) {
      throw new MlldError('DUPLICATE_HOOK', `A hook named @${name} is registered already`, {
        location: locationOf(module, node.at),
        hint: 'names of hooks are unique in a run, those of imported modules included; choose another, or leave it out',
      });
    }
    if (name !== undefined) this.names.add(name);
    const number = ++this.count;
    this.tables[timing].add({
      number,
      id: name ?? `<unnamed-hook-${number}>`,
      filter,
      node,
      module,
      interceptor: interceptor(node, module),
    });
    if (filter.kind === 'operation' && filter.name === 'for:batch') this.watchesBatches = true;
  }

  /** Returns the hooks that watch one of these operations and may replace a value, in the order of registration. */
  transforming(reach: Reach): readonly Interceptor[] {
    const found = new Set([...this.tables.before.matching(reach), ...this.tables.after.matching(reach)]);
    return [...found]
      .filter(({ node }) => mayReturn(node))
      .sort((left, right) => left.number - right.number)
      .map((hook) => hook.interceptor);
  }

  /** Returns the hooks registered so far, in their order; prefixes are not tested yet. */
  watching(operation: Operation): { readonly before: readonly RegisteredHook[]; readonly after: readonly RegisteredHook[] } {
    const names = namesOf(operation);
    return { before: this.tables.before.matching(names), after: this.tables.after.matching(names) };
  }
}

/** A label filter matches where data receives a label: a declaration or a call. */
function namesOf(operation: Operation): Names {
  const { labels } = operation;
  const kinds = kindsOf(operation);
  const addsLabels = kinds.includes('var') || kinds.includes('exe');
  return { functions: functionNames(operation), operations: [...kinds, ...labels], labels: addsLabels ? labels : [] };
}

/** A block returns with `=>`, also inside other statements; a `when` by the value of an arm. */
function mayReturn({ body }: Hook): boolean {
  if (body.kind === 'when' && body.entries.some((entry) => entry.kind === 'arm' && !isStatement(entry.action))) return true;
  const returns = (node: unknown): boolean => {
    if (typeof node !== 'object' || node === null) return false;
    if ((node as { kind?: unknown }).kind === 'return') return true;
    return Object.values(node).some(returns);
  };
  return returns(body);
}
