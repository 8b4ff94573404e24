/** Values of effects and blocks in iterations and in arms. control.md 9.4 and 11.5. */
import { expect, it } from 'vitest';
import type { Block, Run, Show } from '../../grammar/ast.js';
import { parseScript } from '../../grammar/parse.js';
import { valueOfAction } from '../../src/language/statements/action-value.js';
import { Return, Signal } from '../../src/runtime/completion.js';
import { dataOf, labelsOf, type Value } from '../../src/values/value.js';
import { testFrame } from '../support/test-frame.js';

async function valueOf(action: string) {
  const { frame } = await testFrame({ script: 'exe @f(x) = `f @x`', variables: { v: 'V' } });
  const [loop] = parseScript(`for @i in [1] => ${action}`, { mode: 'strict' }).statements;
  return valueOfAction((loop as { body: unknown }).body as Block | Run | Show, frame);
}

it.each([
  ['show `shown @v`', 'shown V'],
  ['run @f(2)', 'f 2'],
  ['[ let @x = 1; @f(@x) ]', 'f 1'],
  ['[ show "a"; show @v ]', 'V'],
  ['[ let @x = 1; @v | @f ]', 'f V'],
  ['[ let @x = 1; => @x ]', 1],
  ['[ if @v [ => "inner" ]; => "end" ]', 'inner'],
  ['[ let @x = 1 ]', undefined],
  ['[ show "a"; log "b" ]', undefined],
])('%s', async (action, expected) => {
  expect(dataOf((await valueOf(action)) as Value)).toEqual(expected);
});

it('passes control words on, and keeps labels', async () => {
  expect(await valueOf('[ if @v [ skip ]; => 1 ]')).toBeInstanceOf(Signal);
  expect(await valueOf('[ if @v [ continue ]; => 1 ]')).not.toBeInstanceOf(Return);
  expect(labelsOf((await valueOf('[ var pii @x = 1; show @x ]')) as Value)).toEqual(['pii']);
});
