import { expect, it } from 'vitest';
import { parseScript } from '../../grammar/parse.js';
import { declarationsOf } from '../../src/session/script/declarations.js';
import { writtenScopes } from '../../src/session/script/written-scopes.js';

const script = (text: string) => parseScript(text, { mode: 'strict' });

it('reads the options of checkpoints from the text of a script', () => {
  const text = 'checkpoint "read" with { resume: manual, ttl: 2h }\nshow "x"\ncheckpoint "write"\n';
  expect([...writtenScopes(script(text))]).toEqual([
    ['read', { name: 'read', resume: 'manual', ttlMs: 7_200_000 }],
    ['write', { name: 'write' }],
  ]);
});

it('leaves out a checkpoint with a computed name, which only a run knows', () => {
  expect([...writtenScopes(script('var @n = "a"\ncheckpoint "read @n"\n')).keys()]).toEqual([]);
});

it('knows the functions that a script declares or imports, by both of their names', () => {
  const { declares, knownFunctions } = declarationsOf(script('import { draw as @sketch } from "./lib.mld"\nexe @review(x) = `@x`\n'));
  expect(knownFunctions.toSorted()).toEqual(['draw', 'review', 'sketch']);
  expect([declares('review'), declares('nothing')]).toEqual([true, false]);
});
