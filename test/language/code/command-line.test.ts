/** The two texts of a command: one for people, hooks and guards, one for the shell. control.md 5.3. */
import { describe, expect, it } from 'vitest';
import { commandLineOf } from '../../../src/language/code/command-line.js';
import type { CommandLine } from '../../../src/runtime/operation.js';
import type { Value } from '../../../src/values/value.js';
import { expressionOf, testFrame } from '../../support/test-frame.js';

async function lineFor(source: string, variables: { readonly [name: string]: Value } = {}): Promise<CommandLine> {
  const { frame } = await testFrame({ variables });
  return commandLineOf(expressionOf('code', `cmd {${source}}`), frame);
}

it('is the written text without references', async () => {
  expect(await lineFor('ls -l | wc')).toEqual({ text: 'ls -l | wc', used: [] });
});

it('keeps values out of the text that the shell reads (COMMAND-1)', async () => {
  const { executed } = await lineFor('grep "@pattern" f', { pattern: '$(rm -rf .)' });
  expect(executed).toBe(`__mlld_1='$(rm -rf .)';grep "\${__mlld_1}" f`);
});

it('quotes values in the readable text, so that it is the same command (COMMAND-2)', async () => {
  const { text } = await lineFor('grep "@pattern" @file', { pattern: 'a"$b', file: "it's" });
  expect(text).toBe(`grep "a\\"\\$b" 'it'\\''s'`);
});

it('splits a bare text into words, and assigns a repeated word once', async () => {
  const { text, executed } = await lineFor('run @flags', { flags: '-v -x -v' });
  expect(text).toBe('run -v -x -v');
  expect(executed).toBe(`__mlld_1='-v';__mlld_2='-x';run "\${__mlld_1}" "\${__mlld_2}" "\${__mlld_1}"`);
});

it('passes data as one word of JSON', async () => {
  const { text, used } = await lineFor('send @data', { data: { a: 'x y' } });
  expect(text).toBe(`send '{"a":"x y"}'`);
  expect(used).toHaveLength(1);
});

it('leaves a name that is not defined as it is written', async () => {
  expect((await lineFor('echo @nobody')).text).toBe('echo @nobody');
});

describe('a value that is refused', () => {
  it.each(['a; rm x', 'a | b', 'a && b', 'a > f', 'a & b'])('holds an operator outside quotes: %s', async (value) => {
    await expect(lineFor('run @value', { value })).rejects.toMatchObject({
      code: 'SHELL_OPERATOR',
      hint: 'put the reference into double quotes: "@value"',
    });
    expect((await lineFor('run "@value"', { value })).text).toContain(value);
  });

  it('is not a whole number where the shell computes', async () => {
    await expect(lineFor('echo $((@n + 1))', { n: 'a[$(id)]' })).rejects.toMatchObject({ code: 'SHELL_NUMBER' });
    expect((await lineFor('echo $((@n + 1))', { n: 41 })).text).toBe('echo $((41 + 1))');
  });
});
