/** Imports of published modules, checked without a run. world.md 11.7. */
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../journal/sha256.js';
import { analyze, errorLines, warningLines, type Texts } from './support/files-in-memory.js';

const POLL = 'exe @poll(n) = `poll @n`\nexport { @poll }\n';
const SHA = sha256Hex(POLL);
const LOCK = JSON.stringify({
  modules: { '@mlld/poll': { version: '1.2.0', sha256: SHA, format: 'mld', source: 'https://x.example/p.mld' } },
});
const host: Texts = { 'mlld-lock.json': LOCK, [`.mlld/modules/${SHA}/poll.mld`]: POLL };
const deep = { depth: 'deep' } as const;

async function messages(source: string, texts: Texts = host, settings = {}): Promise<readonly string[]> {
  const { errors = [], warnings = [] } = await analyze({ ...texts, 'main.mld': source }, { ...deep, ...settings });
  return [...errors, ...warnings].map(({ code, message, hint }) => `${code}: ${message}${hint === undefined ? '' : ` | ${hint}`}`);
}

describe('published modules, followed', () => {
  it.each([
    'import { poll } from @mlld/poll\nshow @poll(1)',
    'import module { poll } from "@mlld/poll@^1.2.0"\nshow @poll(1)',
    'import { poll } from "https://x.example/p.mld"\nshow @poll(1)',
    'import { x } from @input\nimport { y } from @cfg',
  ])('%s', async (source) => expect(await messages(source)).toEqual([]));

  it('finds a name that the module does not export, at its place', async () => {
    expect(errorLines(await analyze({ ...host, 'main.mld': 'import { pol } from @mlld/poll' }, deep))).toEqual(['1:10 unresolvable']);
  });

  it('warns of a module that is not in the lock, unless the run is given it', async () => {
    const report = await analyze('import { x } from @app/cfg\nshow @x', deep);
    expect(warningLines(report)).toEqual(['1:19 missing-module']);
    expect(report.warnings?.[0]?.message).toContain('mlld modules add @app/cfg');
    expect(await messages('import { x } from @app/cfg\nshow @x', {}, { injected: new Set(['@app/cfg']) })).toEqual([]);
  });

  it.each<[string, string, Texts, RegExp]>([
    ['another version', '@mlld/poll@2', host, /^unresolvable: @mlld\/poll has the version 1.2.0, .* \| import @mlld\/poll without/],
    ['no file', '@mlld/poll', { 'mlld-lock.json': LOCK }, /^unresolvable: The file of the module @mlld\/poll is missing: .* \| mlld modules add {3}/],
    ['another content', '@mlld/poll', { ...host, [`.mlld/modules/${SHA}/poll.mld`]: `${POLL}x` }, /^unresolvable: The module @mlld\/poll is not what/],
    ['a broken lock', '@mlld/poll', { 'mlld-lock.json': '{' }, /^unresolvable: mlld-lock.json is not valid JSON/],
    ['an address', '"https://x.example/q.mld"', host, /^unresolvable: .* \| mlld modules add https:\/\/x.example\/q.mld$/],
  ])('refuses %s', async (_about, source, texts, message) => {
    expect(await messages(`import { poll } from ${source}\nshow @poll`, texts)).toEqual([expect.stringMatching(message) as string]);
  }); // prettier-ignore

  it('looks in the folder of the configuration', async () => {
    const texts = { 'mlld-lock.json': LOCK, [`vendor/${SHA}/poll.mld`]: POLL };
    expect(await messages('import { poll } from @mlld/poll\nshow @poll(1)', texts, { modulesFolder: '/project/vendor' })).toEqual([]);
  });

  it('finds a name that leaves the folder of its prefix', async () => {
    const settings = { prefixes: [{ prefix: '@lib/', basePath: '/project/lib' }] };
    const report = await analyze({ 'main.mld': 'import { x } from @lib/a/../../x.mld', 'x.mld': 'var @x = 1' }, settings);
    expect(errorLines(report)).toEqual(['1:19 import-form']);
  });
});
