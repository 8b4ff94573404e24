/** The tables find what a look at every filter would find. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Filter } from '../../grammar/ast.js';
import { FilterTable, filterName, filterText, type Names, type Watcher } from '../../src/hooks/filter.js';

const word = fc.constantFrom('a', 'b', 'c');
const anyFilter: fc.Arbitrary<Filter> = fc.oneof(
  word.map((name): Filter => ({ kind: 'function', at: 0, path: [name] })),
  word.map((name): Filter => ({ kind: 'operation', at: 0, name })),
  word.map((label): Filter => ({ kind: 'label', at: 0, label })),
);
const anyNames: fc.Arbitrary<Names> = fc.record({ functions: fc.array(word), operations: fc.array(word), labels: fc.array(word) });
const NAMES_OF = { function: 'functions', operation: 'operations', label: 'labels' } as const;

function registered(filters: readonly Filter[]): readonly Watcher[] {
  return filters.map((filter, i) => ({ number: i + 1, filter }));
}

describe('a table of filters', () => {
  it('finds all that watch one of the names, each once, in the order of registration', () => {
    fc.assert(
      fc.property(fc.array(anyFilter, { maxLength: 12 }), anyNames, (filters, names) => {
        const watchers = registered(filters);
        const table = new FilterTable();
        for (const watcher of watchers) table.add(watcher);
        const expected = watchers.filter(({ filter }) => [...names[NAMES_OF[filter.kind]]].includes(filterName(filter)));
        expect(table.matching(names)).toEqual(expected);
      }),
    );
  });

  it('FILTER-1: keeps a later registration out of a list that was returned', () => {
    const table = new FilterTable();
    const names: Names = { functions: ['f'], operations: [], labels: [] };
    const [first, second] = registered([{ kind: 'function', at: 0, path: ['f'] }, { kind: 'function', at: 0, path: ['f'] }]); // prettier-ignore
    table.add(first as Watcher);
    const before = table.matching(names);
    table.add(second as Watcher);
    expect(before).toEqual([first]);
    expect(table.matching(names)).toEqual([first, second]);
  });
});

it('writes a filter as the script does', () => {
  expect(filterText({ kind: 'function', at: 0, path: ['mine', 'dig'], prefix: 'a"b' })).toBe('@mine.dig("a\\"b")');
  expect(filterText({ kind: 'operation', at: 0, name: 'for:iteration' })).toBe('op:for:iteration');
  expect(filterText({ kind: 'label', at: 0, label: 'net:w' })).toBe('net:w');
});
