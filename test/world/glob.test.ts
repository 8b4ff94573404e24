/** Globs. Conformance: world.md 6. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openWorld, temporaryFolder } from './support.js';

const { world } = openWorld();
let root = '';
const files = [
  'a.txt',
  'Z.txt',
  'b10.md',
  'b2.md',
  'c.txt',
  'c/a.txt',
  'c/deep/er/x.txt',
  'c/.hidden.txt',
  '.config/x.txt',
  'node_modules/p/a.txt',
  'c/node_modules/a.txt',
  'dist/a.txt',
  'c/build/a.txt',
  'c/.git/a.txt',
  'odd/a (1).txt',
  'odd/{x}.txt',
  'odd/!neg.txt',
  'odd/a+b@c.txt',
  'odd/ünï ☃.txt',
];

beforeAll(async () => {
  root = join(await temporaryFolder(), 'build', 'project');
  for (const file of files) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), '');
  }
  await mkdir(join(root, 'folder.txt'));
  await symlink('../c', join(root, 'odd/link'));
  await mkdir(join(root, 'loop/inner'), { recursive: true });
  await writeFile(join(root, 'loop/f.log'), '');
  await symlink('..', join(root, 'loop/inner/up'));
  await symlink('nowhere', join(root, 'odd/lost.txt'));
});
afterAll(() => world.close('done'));

async function find(pattern: string, from = root): Promise<string[]> {
  const { paths } = await world.perform('file.glob', { root: from, pattern });
  return paths.map((path) => (path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path));
}

it.each<[string, string[]]>([
  ['*.txt', ['Z.txt', 'a.txt', 'c.txt']],
  ['*', ['Z.txt', 'a.txt', 'b10.md', 'b2.md', 'c.txt']],
  ['b*.md', ['b10.md', 'b2.md']],
  ['?.txt', ['Z.txt', 'a.txt', 'c.txt']],
  ['[ab].txt', ['a.txt']],
  ['[a-c].txt', ['a.txt', 'c.txt']],
  ['[A-Z].txt', ['Z.txt']],
  ['A.*', []],
  ['c/**/*.txt', ['c/a.txt', 'c/deep/er/x.txt']],
  ['**/x.txt', ['c/deep/er/x.txt', 'odd/link/deep/er/x.txt']],
  ['c*/*.txt', ['c/a.txt']],
  ['c/*/er/*', ['c/deep/er/x.txt']],
  ['./*.md', ['b10.md', 'b2.md']],
  ['c/../*.md', ['b10.md', 'b2.md']],
  ['odd/a (?).txt', ['odd/a (1).txt']],
  ['odd/{*}.txt', ['odd/{x}.txt']],
  ['{a,c}.t*', []],
  ['odd/!*.txt', ['odd/!neg.txt']],
  ['!a.*', []],
  ['odd/a+b@*.txt', ['odd/a+b@c.txt']],
  ['odd/ün*.txt', ['odd/ünï ☃.txt']],
  ['odd/lost*', []],
  ['folder*', []],
  ['dist/*.txt', []],
  ['node_modules/**/*.txt', []],
  ['none/*.txt', []],
  ['*.zip', []],
])('%s', async (pattern, expected) => {
  expect(await find(pattern)).toEqual(expected);
});

it('ends in a folder that links to a folder above it', async () => {
  const found = await find('loop/**/*.log');
  expect(found).toContain('loop/f.log');
  expect(found.length).toBeLessThan(4);
});

it('puts c.txt before c/a.txt, follows links once, leaves out what is hidden or generated', async () => {
  expect(await find('**/[a-cZ].txt')).toEqual(['Z.txt', 'a.txt', 'c.txt', 'c/a.txt', 'odd/link/a.txt']);
});

it('starts above the root, and at an absolute place that is called like something ignored', async () => {
  expect(await find('../*.txt', join(root, 'c'))).toEqual(['Z.txt', 'a.txt', 'c.txt']);
  expect(await find(`${root}/c/*.txt`, '/')).toEqual(['c/a.txt']);
  expect(await find(`${root}/*.md`, root)).toEqual(['b10.md', 'b2.md']);
});

it('finds nothing in a folder that does not exist', async () => {
  expect(await find('*.txt', join(root, 'nowhere'))).toEqual([]);
});
