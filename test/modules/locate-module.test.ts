/** The file that the path of an import names. world.md 11.3. */
import { expect, it } from 'vitest';
import { indexIn, locateModule } from '../../src/modules/locate-module.js';
import { FakeWorld } from '../support/fake-world.js';
import { testFrame } from '../support/test-frame.js';

const files = {
  '/p/one.mld': '',
  '/p/kit/index.mld': '',
  '/p/kit/rope/index.mld': '',
  '/p/parts/a/index.mld': '',
  '/p/data.json': '{}',
  '/p/doc.mld.md': '',
  '/p/doc.md': '',
  '/p/note.md': '',
};

it.each<[path: string, ending: 'slash' | 'name', found: object]>([
  ['/p/one.mld', 'name', { kind: 'module', absolute: '/p/one.mld' }],
  ['/p/one', 'name', { kind: 'module', absolute: '/p/one.mld' }],
  ['/p/doc', 'name', { kind: 'module', absolute: '/p/doc.mld.md' }],
  ['/p/note', 'name', { kind: 'module', absolute: '/p/note.md' }],
  ['/p/data.json', 'name', { kind: 'module', absolute: '/p/data.json' }],
  ['/p/kit', 'name', { kind: 'module', absolute: '/p/kit/index.mld' }],
  ['/p/kit', 'slash', { kind: 'directory', absolute: '/p/kit' }],
  ['/p/parts', 'name', { kind: 'directory', absolute: '/p/parts' }],
  ['/p/missing', 'name', { kind: 'module', absolute: '/p/missing' }],
])('finds %s, which ends with a %s', async (path, ending, found) => {
  const { frame } = await testFrame({ world: new FakeWorld({ files }) });
  expect(await locateModule(path, ending, frame)).toEqual(found);
});

it('finds the index of a folder, if it has one', async () => {
  const { frame } = await testFrame({ world: new FakeWorld({ files }) });
  expect([await indexIn('/p/kit', frame), await indexIn('/p/parts', frame)]).toEqual(['/p/kit/index.mld', undefined]);
});
