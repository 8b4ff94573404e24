/** Commands, and code in other languages: the request to the world, and the value of its output. control.md 5, 7 and 8. */
import { describe, expect, it } from 'vitest';
import { evaluateCode } from '../../../src/language/code/code.js';
import { metadataOf, dataOf, sourcesOf, type Value } from '../../../src/values/value.js';
import { WorldError, type EffectRequest, type EffectResult, type World } from '../../../src/world/world.js';
import { expressionOf, testFrame, type FrameOptions, type TestFrame } from '../../support/test-frame.js';

interface Executed extends TestFrame {
  readonly value: Value;
  readonly code: readonly EffectRequest<'code.run'>[];
  readonly commands: readonly EffectRequest<'command.run'>[];
  /** Holds the texts that were forwarded to standard error. */
  readonly forwarded: readonly string[];
}

interface Outputs {
  readonly code?: EffectResult<'code.run'>;
  readonly command?: Partial<EffectResult<'command.run'>>;
}

/** Evaluates a block of code in a world that executes nothing and returns these outputs. */
async function execute(source: string, outputs: Outputs = {}, options: FrameOptions = {}): Promise<Executed> {
  const code: EffectRequest<'code.run'>[] = [];
  const commands: EffectRequest<'command.run'>[] = [];
  const forwarded: string[] = [];
  const world = {
    perform: async (kind: string, request: never) => {
      if (kind === 'code.run') {
        code.push(request);
        return outputs.code ?? { value: undefined, log: '' };
      }
      if (kind === 'stream.write') {
        forwarded.push((request as { text: string }).text);
        return {};
      }
      commands.push(request);
      return { stdout: '', stderr: '', exitCode: 0, durationMs: 3, ...outputs.command };
    },
    close: async () => undefined,
  } as World;
  const made = await testFrame({ world, ...options });
  const value = await evaluateCode(expressionOf('code', source), made.frame);
  return { ...made, value, code, commands, forwarded };
}

describe('js and node', () => {
  it('receive the listed variables as plain values, and the names of undefined ones', async () => {
    const { code } = await execute('js (@list, @missing) { return 1 }', {}, { variables: { list: [1, { a: 2 }] } });
    expect(code).toMatchObject([{ language: 'js', variables: { list: [1, { a: 2 }] }, unset: ['missing'] }]);
  });

  it('run in the working directory of the process as js, and at the project root as node', async () => {
    const directories = async (source: string): Promise<string | undefined> => (await execute(source)).code[0]?.directory;
    expect([await directories('js { 1 }'), await directories('node { 1 }')]).toEqual(['/w', '/p']);
  });

  it('have the returned value as their result, marked with the language', async () => {
    const { value } = await execute('js { return 1 }', { code: { value: { n: 1 }, log: 'ignored' } });
    expect([dataOf(value), sourcesOf(value)]).toEqual([{ n: 1 }, ['src:js']]);
  });

  it('have the log as their result when they return nothing', async () => {
    const { value } = await execute('js { console.log("[1]") }', { code: { value: undefined, log: '[1]\n' } });
    expect(dataOf(value)).toEqual([1]);
  });

  it('take a returned null for a result in node, and for none in js', async () => {
    const returned = { code: { value: null, log: '' } };
    expect(dataOf((await execute('node { return null }', returned)).value)).toBeNull();
    expect(dataOf((await execute('js { return null }', returned)).value)).toBe('');
  });
});

describe('commands', () => {
  it('run at the project root, or in the directory that they name', async () => {
    const directory = async (source: string): Promise<string | undefined> => (await execute(source)).commands[0]?.directory;
    expect(await directory('cmd { ls }')).toBe('/p');
    expect(await directory('cmd:@root/docs { ls }')).toBe('/p/docs');
    expect(await directory('cmd:/tmp { ls }')).toBe('/tmp');
    await expect(directory('cmd:docs { ls }')).rejects.toMatchObject({
      code: 'WORKING_DIRECTORY',
      message: 'The working directory must be an absolute path, and "docs" is relative',
    });
  });

  it('receive variables as text in a shell, and as data in Python', async () => {
    const variables = { list: ['a', 1], name: 'x' };
    const inShell = await execute('sh (@list, @name, @gone) { echo }', {}, { variables });
    const inPython = await execute('py (@list, @name, @gone) { pass }', {}, { variables });
    expect(inShell.commands[0]?.variables).toEqual({ list: 'a\n1', name: 'x' });
    expect(inPython.commands[0]?.variables).toEqual({ list: ['a', 1], name: 'x', gone: null });
  });

  it('have their output as their result, with what is known about the command', async () => {
    const { value } = await execute('cmd {echo hi}', { command: { stdout: 'hi\n' } });
    expect(dataOf(value)).toBe('hi');
    expect(metadataOf(value)?.command).toMatchObject({ source: 'cmd', command: 'echo hi', exitCode: 0, durationMs: 3 });
  });

  it('forward error output only when they succeed', async () => {
    expect((await execute('cmd { a }', { command: { stderr: 'careful\n' } })).forwarded).toEqual(['careful\n']);
    expect((await execute('cmd { a }', { command: { stderr: 'broken\n', exitCode: 2 } })).forwarded).toEqual([]);
  });

  it('are listed when they fail, and their error output is the result if there is no other', async () => {
    const { value, frame } = await execute('cmd { rm x }', { command: { stderr: 'no such file\n', exitCode: 1 } });
    expect(dataOf(value)).toBe('no such file');
    expect(frame.run.failedCommands).toMatchObject([{ command: 'rm x', exitCode: 1 }]);
  });

  it('end the run when they fail under --error-behavior halt', async () => {
    const failing = execute(
      'cmd { rm x }',
      { command: { stderr: 'no such file\n', exitCode: 1 } },
      { settings: { errorBehavior: 'halt' } },
    );
    await expect(failing).rejects.toMatchObject({ code: 'COMMAND_FAILED', message: 'Command ended with status 1: rm x\nno such file' });
  });
});

it('says how code reads names, where JavaScript refuses an at sign', async () => {
  const failing = {
    perform: async () => {
      throw new WorldError('CODE_INVALID', 'SyntaxError: Invalid or unexpected token');
    },
    close: async () => undefined,
  } as World;
  await expect(execute('js { return @n.length }', {}, { world: failing })).rejects.toMatchObject({
    code: 'CODE_INVALID',
    hint: 'in code a name has no at sign: write `n` for a parameter, or list a variable: `js (@n) { … }`',
  });
  await expect(execute('js { return n n }', {}, { world: failing })).rejects.toMatchObject({ hint: undefined });
});
