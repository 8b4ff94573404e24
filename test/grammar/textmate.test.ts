/** What editors get to colour with. */
import { expect, it } from 'vitest';
import { statementWords, transformerNames } from '../../grammar/keywords.js';
import { textMateGrammar } from '../../grammar/textmate.js';

/** All regular expressions of the grammar, with where they stand. */
function expressionsIn(node: unknown, at = ''): [string, string][] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]): [string, string][] =>
    (key === 'match' || key === 'begin' || key === 'end') && typeof value === 'string'
      ? [[`${at}.${key}`, value]]
      : expressionsIn(value, `${at}.${key}`),
  );
}

it.each(expressionsIn(textMateGrammar()))('has a regular expression at %s', (_at, source) => {
  expect(() => new RegExp(source)).not.toThrow();
});

it('includes only rules that it has, and languages of other grammars', () => {
  const { patterns, repository } = textMateGrammar();
  const includes = [...JSON.stringify({ patterns, repository }).matchAll(/"include":"([^"]+)"/g)].map(([, name]) => name as string);
  for (const name of includes)
    expect(name.startsWith('#') ? Object.hasOwn(repository, name.slice(1)) : /^source\.\w+$/.test(name)).toBe(true);
});

it.each([...statementWords])('colours the statement word %s', (word) => {
  const sources = expressionsIn(textMateGrammar().repository['keywords']).map(([, source]) => new RegExp(source, 'm'));
  expect(sources.some((source) => source.test(`${word} @x`))).toBe(true);
});

it.each([...transformerNames])('colours the built-in @%s', (name) => {
  const sources = expressionsIn(textMateGrammar().repository['references']).map(([, source]) => new RegExp(`^(?:${source})$`));
  expect(sources.some((source) => source.test(`@${name}`))).toBe(true);
});
