/** Holds the syntax highlighting of editors to the words of the language. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { foreignWords, statementWords, transformerNames } from '../../grammar/keywords.js';
import { textMateGrammar } from '../../grammar/textmate.js';

/** Returns all regular expressions of the grammar, with their paths. */
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

/** Words of special places (targets, sources, values of options), and those that the runtime refuses. */
const UNCOLOURED: readonly string[] = [
  'payload',
  'state',
  'input',
  'stdin',
  'stdout',
  'stderr',
  'auto',
  'manual',
  'never',
  'data',
  // Units, which have the colour of their number.
  'usd',
  'tok',
  ...foreignWords,
];

function wordsOfTheGrammar(): readonly string[] {
  const folder = new URL('../../grammar/mlld/', import.meta.url);
  const sources = readdirSync(folder).filter((name) => name.endsWith('.peggy'));
  const found = sources.flatMap((name) => [
    ...readFileSync(new URL(name, folder), 'utf8').matchAll(/"([a-z]{3,})"i?(?=\s*(?:W\b|s\b|\)|\/))/g),
  ]);
  return [...new Set(found.map(([, word]) => word as string))].filter((word) => !UNCOLOURED.includes(word));
}

it.each(['5m', '0.5usd', '200ktok'])('colours %s as one number', (text) => {
  const [[, source] = ['', '']] = expressionsIn(textMateGrammar().repository['numbers']);
  expect(new RegExp(source).exec(`maxCost: ${text} }`)?.[0]).toBe(text);
});

it.each(wordsOfTheGrammar())('colours the word %s of the grammar', (word) => {
  const { repository } = textMateGrammar();
  const sources = [
    ...expressionsIn(repository['keywords']),
    ...expressionsIn(repository['code']),
    ...expressionsIn(repository['references']),
  ];
  const samples = [word, `import ${word} "./x.mld"`, `${word}: never`, `${word} {`];
  const covers = (source: string, sample: string): boolean => new RegExp(source, 'm').exec(sample)?.[0].includes(word) === true;
  expect(sources.some(([, source]) => samples.some((sample) => covers(source, sample)))).toBe(true);
});
