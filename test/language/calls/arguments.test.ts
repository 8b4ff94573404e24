/** Arguments are evaluated in the caller's scope before the body of a function starts. control.md 4. */
import { expect, it } from 'vitest';
import type { MethodStep } from '../../../grammar/ast.js';
import { evaluateArguments, evaluateMethodArguments } from '../../../src/language/calls/arguments.js';
import { expression, expressionOf, testFrame } from '../../support/test-frame.js';

it('evaluates arguments from left to right', async () => {
  const { frame } = await testFrame();
  const seen: unknown[] = [];
  const watched: typeof frame = {
    ...frame,
    evaluate: async (node, inner) => {
      seen.push(node.kind === 'literal' ? node.value : node.kind);
      return frame.evaluate(node, inner);
    },
  };
  expect(await evaluateArguments([expression('1'), expression('[2]'), expression('3')], watched)).toEqual([1, [2], 3]);
  expect(seen.slice(0, 2)).toEqual([1, 'array']);
  expect(seen.at(-1)).toBe(3);
});

it('passes on a parameter that was not passed itself', async () => {
  const { frame } = await testFrame();
  frame.scope.define({ name: 'optional', value: undefined, kind: 'param' });
  expect(await evaluateArguments([expression('@optional'), expression('"x"')], frame)).toEqual([undefined, 'x']);
});

it('throws for a name that is not declared, with a suggestion', async () => {
  const { frame } = await testFrame({ variables: { topic: 'tides' } });
  await expect(evaluateArguments([expression('@topc')], frame)).rejects.toMatchObject({
    code: 'UNKNOWN_VARIABLE',
    hint: 'did you mean @topic?',
  });
});

it('gives methods of texts a regular expression', async () => {
  const { frame } = await testFrame();
  const [step] = expressionOf('reference', '@text.replace(/a+/i, "b")').steps;
  const [pattern, text] = await evaluateMethodArguments((step as MethodStep).args, frame);
  expect(pattern).toMatchObject({ source: 'a+', flags: 'i' });
  expect(text).toBe('b');
});
