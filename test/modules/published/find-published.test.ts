/** Imports of published modules by the lock. world.md 11.7. */
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../../journal/sha256.js';
import { runScript, type ScriptOptions } from '../../support/in-fake-world.js';

const POLL = '---\nname: poll\n---\nProse.\n\n/exe @poll(n) = `poll @n`\n/export { @poll }\n';
const SHA = sha256Hex(POLL);
const FILE = `/p/.mlld/modules/${SHA}/poll.mld.md`;
const lock = (entry: object = {}): string =>
  JSON.stringify({
    modules: { '@mlld/poll': { version: '1.2.0', sha256: SHA, format: 'mld.md', source: 'https://x.example/poll.mld.md', ...entry } },
  });
const files = { '/p/mlld-lock.json': lock(), [FILE]: POLL };

const outcome = async (script: string, options: ScriptOptions = { files }) => {
  const { shown, error } = await runScript(script, options);
  return error ? `${error.code} ${error.location?.line}:${error.location?.column} ${error.message} | ${error.hint}` : shown.trim();
};

describe('a published module', () => {
  it.each([
    ['import { @poll } from @mlld/poll\nshow @poll(1)', 'poll 1'],
    ['import { poll } from "@mlld/poll"\nshow @poll(1)', 'poll 1'],
    ['import module { poll } from @mlld/poll@1.2\nshow @poll(1)', 'poll 1'],
    ['import @mlld/poll@^1.0.0 as @p\nshow @p.poll(2)', 'poll 2'],
    ['import "@mlld/poll"\nshow @poll.poll(2)', 'poll 2'],
    ['import { poll } from "https://x.example/poll.mld.md"\nshow @poll(1)', 'poll 1'],
  ])('%s', async (script, shown) => expect(await outcome(script)).toBe(shown));

  it('comes after injected modules, variables and prefixes of the same name', async () => {
    const injected = new Map([['@mlld/poll', { kind: 'source', text: 'var @poll = "injected"' } as const]]);
    expect(await outcome('import { poll } from @mlld/poll\nshow @poll', { files, injected })).toBe('injected');
    const own = { ...files, '/p/own/poll.mld': 'var @poll = "own"' };
    const prefixes = [{ prefix: '@mlld/', basePath: '/p/own' }];
    expect(await outcome('import { poll } from @mlld/poll\nshow @poll', { files: own, prefixes })).toBe('own');
    expect(await outcome('var @mlld = "own"\nimport { poll } from "@mlld/poll"\nshow @poll', { files: own })).toBe('own');
  });

  it('is read once', async () => {
    const { world } = await runScript('import { poll } from @mlld/poll\nimport "@mlld/poll" as @p\nshow @p.poll(1)', { files });
    expect(world.performed.filter((effect) => effect === `file.read ${FILE}`)).toHaveLength(1);
  });

  it.each<[string, string, ScriptOptions['files'], string]>([
    ['no lock', '@mlld/poll', {}, 'MODULE_NOT_ADDED 1:19 The module @mlld/poll is not in mlld-lock.json, and a run fetches nothing | mlld modules add @mlld/poll   (or mlld modules add FILE --as @mlld/poll)'],
    ['not in the lock', '@mlld/other', files, 'MODULE_NOT_ADDED 1:19 The module @mlld/other is not in mlld-lock.json, and a run fetches nothing | mlld modules add @mlld/other   (or mlld modules add FILE --as @mlld/other)'],
    ['another version', '@mlld/poll@2', files, 'MODULE_VERSION 1:19 @mlld/poll has the version 1.2.0, and the import asks for 2 | import @mlld/poll without a version, or add another one: mlld modules add @mlld/poll@2'],
    ['no file', '@mlld/poll', { '/p/mlld-lock.json': lock() }, `MODULE_NOT_ADDED 1:19 The file of the module @mlld/poll is missing: .mlld/modules/${SHA}/poll.mld.md | mlld modules add   (without a name it fetches what mlld-lock.json lists and is missing)`],
    ['another content', '@mlld/poll', { ...files, [FILE]: `${POLL}x` }, `MODULE_CHANGED 1:19 The module @mlld/poll is not what mlld-lock.json says: the sha256 of .mlld/modules/${SHA}/poll.mld.md differs | delete the file and restore it with mlld modules add, or accept a new version with mlld modules add @mlld/poll`],
    ['a broken lock', '@mlld/poll', { '/p/mlld-lock.json': '{' }, 'LOCK_INVALID'],
    ['a name that leaves the folder', '@mlld/../../x', files, 'UNKNOWN_SOURCE 1:19'],
  ])('%s', async (_about, name, own, expected) => {
    expect(await outcome(`import { poll } from ${name}`.replace('{ poll }', '{ p }'), { files: own ?? {} })).toContain(expected);
  }); // prettier-ignore

  it('says how to add an address', async () => {
    expect(await outcome('import { p } from "https://x.example/other.mld"')).toContain('| mlld modules add https://x.example/other.mld');
  });

  it('may leave no prefix', async () => {
    const prefixes = [{ prefix: '@lib/', basePath: '/p/lib' }];
    const own = { '/p/x.mld': 'var @p = 1', '/p/lib/y.mld': 'var @p = 2' };
    expect(await outcome('import { p } from @lib/../x.mld', { files: own, prefixes })).toContain('PREFIX_ESCAPE 1:19');
    expect(await outcome('show <@lib/../x.mld>', { files: own, prefixes })).toContain('PREFIX_ESCAPE');
    expect(await outcome('import { p } from @lib/z/../y.mld\nshow @p', { files: own, prefixes })).toBe('2');
  });
});
