/** The variables of a code block, and which of them a `cmd` gets in its environment. control.md 5.1 to 5.4. */
import { expect, it } from 'vitest';
import { functionScope, shellVariablesFor, variablesFor } from '../../../src/language/code/code-variables.js';
import { Scope } from '../../../src/runtime/scope.js';
import { expressionOf, testFrame } from '../../support/test-frame.js';

async function shellVariables(source: string, variables = {}) {
  const { frame } = await testFrame({ variables });
  return shellVariablesFor(expressionOf('code', source), frame);
}

it('are the listed ones, with undefined for a name that is not there', async () => {
  const { frame } = await testFrame({ variables: { a: 1 } });
  expect(variablesFor(expressionOf('code', 'js (@a, @ghost) { return a }'), frame)).toEqual([
    { name: 'a', value: 1 },
    { name: 'ghost', value: undefined },
  ]);
  expect(variablesFor(expressionOf('code', 'js { return a }'), frame)).toEqual([]);
});

it('are found in the nearest function', () => {
  const outer = new Scope('function', new Scope('module'));
  expect(functionScope(new Scope('block', outer))).toBe(outer);
  expect(functionScope(new Scope('block', new Scope('module')))).toBe(undefined);
});

it('of a cmd are the listed ones with a value', async () => {
  expect(await shellVariables('cmd (@a, @ghost) { echo "$a" }', { a: 'x' })).toEqual([{ name: 'a', value: 'x' }]);
  expect(await shellVariables('cmd { echo "$a" }', { a: 'x' })).toEqual([]);
});

it.each(['cmd (@n) { echo $((n + 1)) }', 'cmd (@n) { echo $((1 + $n)) }', 'cmd (@n) { echo "${s:$n}" }'])(
  'that the shell computes with are whole numbers: %s',
  async (source) => {
    await expect(shellVariables(source, { n: '1 + x' })).rejects.toMatchObject({ code: 'SHELL_NUMBER' });
    expect(await shellVariables(source, { n: ' -12 ' })).toHaveLength(1);
  },
);
