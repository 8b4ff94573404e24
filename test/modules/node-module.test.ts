/** Names that are imported from Node modules. world.md 11.3. */
import { expect, it } from 'vitest';
import { parseScript } from '../../grammar/parse.js';
import type { Import } from '../../grammar/ast.js';
import { nodeModule } from '../../src/modules/node-module.js';
import { HostFunction } from '../../src/values/kinds/host-function.js';
import type { Value } from '../../src/values/value.js';
import { FakeWorld } from '../support/fake-world.js';
import { testFrame } from '../support/test-frame.js';

const node = { path: { basename: (path: string) => path, sep: '/' }, 'fs/promises': { readFile: () => '' }, '@scope/kit': { version: 3 } };

async function members(source: string): Promise<ReadonlyMap<string, Value>> {
  const [statement] = parseScript(source, { mode: 'strict' }).statements;
  const imported = statement as Import & { source: { kind: 'node' } };
  const { frame } = await testFrame({ world: new FakeWorld({ node }) });
  return nodeModule(imported, imported.source, frame);
}

it('makes functions callable and other exports values', async () => {
  const found = await members('import { basename, sep } from node @path');
  expect(found.get('basename')).toBeInstanceOf(HostFunction);
  expect(found.get('sep')).toBe('/');
});

it.each([
  ['import { readFile } from node @fs/promises', 'readFile'],
  ['import { version } from node @scope/kit', 'version'],
])('finds files of packages and scoped packages alike: %s', async (source, name) => {
  expect((await members(source)).has(name)).toBe(true);
});

it('suggests a similar export', async () => {
  await expect(members('import { basname } from node @path')).rejects.toMatchObject({
    code: 'NOT_EXPORTED',
    hint: 'did you mean basename?',
  });
});

it('refuses to bind a whole module, and shows the form that works', async () => {
  await expect(members('import node @path as @path')).rejects.toMatchObject({
    code: 'NODE_IMPORT',
    hint: 'write: import { name } from node @path',
  });
});
