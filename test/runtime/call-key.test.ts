import { describe, expect, it } from 'vitest';
import type { Json } from '../../journal/event.js';
import { callKey, type CallRequest } from '../../src/runtime/calls/call-key.js';
import { callCli } from '../support/in-process/call-cli.js';
import { projectFolder } from '../support/cli.js';

describe('the key of a call', () => {
  // Recorded results are found by these digests: a program that computes others loses them.
  it.each<[CallRequest, string]>([
    [{ fn: 'ask', args: [] }, '749787aac830e5049fc5c1c2ee4e7b1b2d7e625a296da9f49cec07db25418094'],
    [
      { fn: 'ask', args: ['low tide', 0, 1.5, -1, 1e21, 1e-7, true, null] },
      'd808764baf9265b6998f14c17c74157f7a034e451029ce69a61b934fa1006bc8',
    ],
    [
      { fn: 'ask', args: [{ b: [0, { z: 'é\u2028"', a: '' }], a: 0, 10: 'x', 9: 'y' }] },
      'b48fdcfd4366d79ea3004e3611a185eb22c93d08be7ed9859ba293e3f79a79f6',
    ],
    [{ fn: 'ask', args: [{ _b: 1, B: 2, ä: 3 }], attempt: 2 }, 'c017cd39112988dd8d1f10d4aa5b2cd0cc7dc3bfdfc24503e6ee266805e57eff'],
    [{ fn: 'wrap', args: ['q'], via: { fn: 'ask', args: [{ n: 0 }] } }, 'fc51492eacb1f063b02e55c12e3cac736822d9135c0c33a53e4dfc4aafebd334'],
  ])('of %j is what it was', (question, digest) => {
    expect(callKey(question)).toBe(`sha256:${digest}`);
  });

  it.each<[string, (zero: number) => Json]>([
    ['alone', (zero) => zero],
    ['in a list', (zero) => [1, zero]],
    ['in an object whose names are in order', (zero) => ({ a: zero, b: 1 })],
    ['in one whose names are not', (zero) => ({ b: 1, a: { c: [zero] } })],
  ])('tells 0 from -0 %s', (_, holding) => {
    expect(callKey({ fn: 'ask', args: [holding(-0)] })).not.toBe(callKey({ fn: 'ask', args: [holding(0)] }));
  });
});

it('a call of -0 does not reuse the result of 0, and a recorded -0 is reused as such', async () => {
  const cwd = await projectFolder({
    'job.mld': `exe llm @sign(x) = js { return Object.is(x, -0) ? "negative" : "positive"; }
exe llm @zero() = js { return { n: [-0] }; }
exe @look(value) = js { return Object.is(value.n[0], -0) ? "negative" : "positive"; }
exe @minus(x) = js { return -x; }
var @below = @minus(0)
show @sign(0)
show @sign(@below)
show @look(@zero())
`,
  });
  const expected = 'positive\nnegative\nnegative\n';
  expect((await callCli(['job.mld', '--checkpoint'], { cwd })).stdout).toBe(expected);
  expect((await callCli(['job.mld', '--checkpoint'], { cwd })).stdout).toBe(expected);
  const { stdout } = await callCli(['journal', 'explain', 'job', '--json'], { cwd });
  const { calls } = JSON.parse(stdout) as { readonly calls: readonly { readonly hit?: object }[] };
  expect(calls.map(({ hit }) => hit !== undefined)).toEqual([true, true, true]);
});
