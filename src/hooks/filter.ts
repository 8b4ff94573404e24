/**
 * The filters of hooks and guards, in tables by name: an operation looks its own names up, and no other filter is evaluated.
 * instrumentation.md 4.2 and 5.3.
 *
 * FILTER-1  A list that was returned never changes: a later registration is not in it.
 */
import type { Filter } from '../../grammar/ast.js';
import type { Operation } from '../runtime/operation.js';

export interface Watcher {
  /** The place in the order of registration, from 1. */
  readonly number: number;
  readonly filter: Filter;
}

/** The names under which an operation is looked up, by kind of filter. */
export interface Names {
  readonly functions: Iterable<string>;
  readonly operations: Iterable<string>;
  readonly labels: Iterable<string>;
}

const NONE: readonly never[] = [];

export class FilterTable<W extends Watcher> {
  private readonly tables: { readonly [K in Filter['kind']]: Map<string, readonly W[]> } = {
    function: new Map(),
    operation: new Map(),
    label: new Map(),
  };

  add(watcher: W): void {
    const { filter } = watcher;
    const table = this.tables[filter.kind];
    const name = filterName(filter);
    table.set(name, [...(table.get(name) ?? NONE), watcher]); // FILTER-1
  }

  /** Returns the matches in the order of registration, each once. */
  matching({ functions, operations, labels }: Names): readonly W[] {
    let found: readonly W[] = NONE;
    for (const name of functions) found = merged(found, this.tables.function.get(name));
    for (const name of operations) found = merged(found, this.tables.operation.get(name));
    return merged(found, this.labelled(labels));
  }

  labelled(labels: Iterable<string>): readonly W[] {
    let found: readonly W[] = NONE;
    for (const label of labels) found = merged(found, this.tables.label.get(label));
    return found;
  }
}

function merged<W extends Watcher>(found: readonly W[], more: readonly W[] | undefined): readonly W[] {
  if (more === undefined || more.length === 0 || more === found) return found;
  if (found.length === 0) return more;
  return [...new Set([...found, ...more])].sort((left, right) => left.number - right.number);
}

/** `dig`, `mine.dig`, `for:iteration`, `net:w`, `secret` */
export function filterName(filter: Filter): string {
  switch (filter.kind) {
    case 'function':
      return filter.path.join('.');
    case 'operation':
      return filter.name;
    case 'label':
      return filter.label;
  }
}

/** Returns the filter as it is written in the source. */
export function filterText(filter: Filter): string {
  switch (filter.kind) {
    case 'function':
      return `@${filter.path.join('.')}${filter.prefix === undefined ? '' : `(${JSON.stringify(filter.prefix)})`}`;
    case 'operation':
      return `op:${filter.name}`;
    case 'label':
      return filter.label;
  }
}

/** Returns the kinds of an operation for `op:` filters: an agent of a workflow script is a call, too. workflows-js.md 7. */
export function kindsOf({ kind }: Operation): readonly string[] {
  return kind === 'agent' ? ['exe', kind] : [kind];
}

/** Returns the names of a called function: as it was called, with its namespace, and as it was declared. */
export function functionNames({ call }: Operation): readonly string[] {
  return call ? [...call.called, call.declared] : NONE;
}
