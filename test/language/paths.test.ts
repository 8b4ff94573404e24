/** The paths of a script. world.md 4. */
import { describe, expect, it } from 'vitest';
import { displayPath, resolveDirectory, resolvePath, resolveTarget, writeDirectory } from '../../src/language/paths.js';
import type { TemplatePart } from '../../grammar/ast.js';
import type { Value } from '../../src/values/value.js';
import { FakeWorld } from '../support/fake-world.js';
import { expressionOf, testFrame } from '../support/test-frame.js';

function partsOf(written: string): readonly TemplatePart[] {
  return expressionOf('load', `<${written}>`).path;
}

async function resolved(written: string, variables: { readonly [name: string]: Value } = {}): ReturnType<typeof resolvePath> {
  const { frame } = await testFrame({ variables });
  return resolvePath(partsOf(written), frame, 0);
}

describe('a path', () => {
  it.each([
    ['a.txt', '/p/scripts/a.txt'],
    ['../docs/a.txt', '/p/docs/a.txt'],
    ['/tmp/a.txt', '/tmp/a.txt'],
    ['@root/a.txt', '/p/a.txt'],
    ['@base/a.txt', '/p/a.txt'],
    ['@lib/tools.txt', '/p/src/lib/tools.txt'],
    ['@folder/a.txt', '/p/scripts/sub/a.txt'],
    ['@list[1]/a.txt', '/p/scripts/second/a.txt'],
  ])('%s is %s', async (written, absolute) => {
    expect((await resolved(written, { folder: 'sub', list: ['first', 'second'] })).absolute).toBe(absolute);
  });

  it('prefers a variable to a prefix of the configuration', async () => {
    expect((await resolved('@lib/a.txt', { lib: 'mine' })).absolute).toBe('/p/scripts/mine/a.txt');
  });

  it('keeps glob characters of the folder apart from the pattern', async () => {
    expect(await resolved('@root/[x]/*.md')).toMatchObject({ root: '/p', rest: '[x]/*.md' });
  });

  it.each<[string, Value, object]>([
    ['@name', { a: 1 }, { code: 'PATH_NOT_TEXT' }],
    ['@name', null, { code: 'PATH_NOT_TEXT', hint: 'the value is missing: set it, or write `?? "default"`' }],
    ['@name', '', { code: 'EMPTY_PATH', message: 'The path @name is empty' }],
    ['@name.txt', 'x', { code: 'PATH_FIELD', hint: 'a backslash ends the name: @name\\.txt' }],
  ])('%s is refused where @name is %j', async (written, name, error) => {
    await expect(resolved(written, { name })).rejects.toMatchObject(error);
  });
});

describe('a name that is not defined', () => {
  it('stays in a path that is read, which says so', async () => {
    expect(await resolved('data/@nme\\.txt', { name: 'x' })).toMatchObject({
      absolute: '/p/scripts/data/@nme.txt',
      unknown: 'Variable @nme is not defined, so it stays in the path as it is written: did you mean @name?',
    });
    expect((await resolved('@list.first/a.txt')).absolute).toBe('/p/scripts/@list.first/a.txt');
    expect(await resolved('@name', { name: 'x' })).not.toHaveProperty('unknown');
  });

  it('is refused in a path that is written', async () => {
    const { frame } = await testFrame({ variables: { name: 'x' } });
    await expect(resolveTarget(partsOf('@nme/a.txt'), frame, 0)).rejects.toMatchObject({
      code: 'UNKNOWN_VARIABLE',
      hint: 'did you mean @name?',
    });
  });
});

it('resolves the home directory of a command, and names the remedy without one', async () => {
  const parts = [{ kind: 'text', text: '~/docs' }] as const;
  const { frame } = await testFrame({ world: new FakeWorld({ environment: { HOME: '/home/ann' } }) });
  expect(await resolveDirectory(parts, frame)).toMatchObject({ directory: '/home/ann/docs' });
  const { frame: homeless } = await testFrame();
  await expect(resolveDirectory(parts, homeless)).rejects.toMatchObject({
    code: 'WORKING_DIRECTORY',
    hint: 'set HOME, or write an absolute path',
  });
});

it('writes relative to the script, also in a function of a module', async () => {
  const { frame } = await testFrame();
  const module = { ...frame.module, isMain: false, directory: '/p/lib' };
  const inFunction = { ...frame, module, stack: { executable: undefined as never, parent: undefined } };
  expect([writeDirectory({ ...frame, module }), writeDirectory(inFunction)]).toEqual(['/p/lib', '/p/scripts']);
});

it('shows a path relative to the working directory where that is shorter', () => {
  const shown = (absolute: string): string => displayPath(absolute, { workingDirectory: '/p/deep/down' });
  expect(['/p/deep/down/a.md', '/p/deep/down', '/a.md'].map(shown)).toEqual(['a.md', '.', '/a.md']);
});
