/** Folders as modules, and folders of templates. world.md 11.3 and 13.4. */
import { describe, expect, it } from 'vitest';
import { parseScript } from '../../grammar/parse.js';
import type { Import } from '../../grammar/ast.js';
import { directoryModule, memberName } from '../../src/modules/directory-modules.js';
import { templateCollection } from '../../src/modules/template-collections.js';
import type { Namespace } from '../../src/values/kinds/namespace.js';
import { FakeWorld } from '../support/fake-world.js';
import { testFrame } from '../support/test-frame.js';

const files = {
  '/p/crew/deck/index.mld': 'var @rank = 2',
  '/p/crew/night-watch/index.mld': 'var @rank = 3',
  '/p/crew/_reserve/index.mld': 'var @rank = 0',
  '/p/crew/papers/list.txt': '',
  '/p/texts/hello.att': 'Hello @name',
  '/p/texts/mail/bye.mtt': 'Bye {{name}}',
  '/p/texts/mail/image.png': '',
  '/p/unknown/a.att': 'Hello @nmae',
  '/p/clash/a.att': '@name',
  '/p/clash/a.mtt': '{{name}}',
  '/p/deep/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/x.att': '@name',
};

async function load(source: string, folder: string, how: typeof directoryModule): Promise<Namespace> {
  const [statement] = parseScript(source, { mode: 'strict' }).statements;
  const { frame } = await testFrame({ world: new FakeWorld({ files }) });
  return how(folder, statement as Import, frame);
}

describe('a folder as a module', () => {
  it('has a member for each folder with an index, without those that begin with _ or a dot', async () => {
    const { members, listed } = await load('import "../crew" as @crew', '/p/crew', directoryModule);
    expect([[...members.keys()], listed]).toEqual([['deck', 'night-watch'], false]);
  });

  it('skips the folders that skipDirs names instead', async () => {
    const { members } = await load('import "../crew" as @crew with { skipDirs: ["night*", "?eck"] }', '/p/crew', directoryModule);
    expect([...members.keys()]).toEqual(['_reserve']);
  });

  it('is refused without any index, with a remedy', async () => {
    await expect(load('import "../texts" as @t', '/p/texts', directoryModule)).rejects.toMatchObject({
      code: 'DIRECTORY_EMPTY',
      hint: 'import a file of it by name, or add an index.mld',
    });
  });

  it('replaces characters that a name can not hold', () => {
    expect(['night-watch', 'a b.c', 'Größe'].map(memberName)).toEqual(['night-watch', 'a_b_c', 'Größe']);
  });
});

describe('a collection of templates', () => {
  it('has a function for each template, and a member for each folder with templates', async () => {
    const { members, listed } = await load('import templates from "../texts" as @t(name)', '/p/texts', templateCollection);
    expect([[...members.keys()], listed]).toEqual([['hello', 'mail'], true]);
    expect(members.get('hello')).toMatchObject({ name: 'hello', params: ['name'] });
  });

  it.each([
    ['import templates from "../crew" as @t(name)', '/p/crew', 'COLLECTION_EMPTY'],
    ['import templates from "../texts/hello.att" as @t(name)', '/p/texts/hello.att', 'COLLECTION_DIRECTORY'],
    ['import templates from "../unknown" as @t(name)', '/p/unknown', 'COLLECTION_VARIABLE'],
    ['import templates from "../clash" as @t(name)', '/p/clash', 'COLLECTION_CLASH'],
    ['import templates from "../deep" as @t(name)', '/p/deep', 'COLLECTION_DEPTH'],
  ])('is refused: %s', async (source, folder, code) => {
    await expect(load(source, folder, templateCollection)).rejects.toMatchObject({ code });
  });
});
