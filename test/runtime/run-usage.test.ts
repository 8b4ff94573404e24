import { expect, it } from 'vitest';
import { addAttempt } from '../../src/calls/usage.js';
import { measuredIn, withMeasured } from '../../src/operation/measured-result.js';
import { Signal } from '../../src/runtime/completion.js';
import { RunUsage } from '../../src/runtime/calls/run-usage.js';
import { mxField } from '../../src/values/metadata.js';
import { annotate, dataOf, type Value } from '../../src/values/value.js';

it('counts calls and attempts, and makes no 0 of what is unknown', () => {
  const usage = new RunUsage();
  expect(usage.view()).toMatchObject({ calls: 0, attempts: 0, inputTokens: null, costUsd: null, savedUsd: null, unpriced: 0 });
  usage.attemptEnded(undefined, true);
  usage.attemptEnded(undefined, false);
  usage.attemptEnded({ inputTokens: 7, costUsd: 0.25 }, false);
  usage.callEnded('executed');
  usage.callEnded('failed');
  usage.callReused(0.5);
  usage.callReused(undefined);
  expect(usage.view()).toEqual({
    calls: 4,
    attempts: 3,
    executed: 1,
    reused: 2,
    failed: 1,
    inputTokens: 7,
    outputTokens: null,
    costUsd: 0.25,
    unpriced: 1,
    savedUsd: 0.5,
  });
  expect(usage.costUsd).toBe(0.25);
});

it('adds costs as people do', () => {
  const usage = new RunUsage();
  for (const costUsd of [0.1, 0.2]) usage.attemptEnded({ costUsd }, false);
  expect(usage.costUsd).toBe(0.3);
});

it('adds the usage of all attempts of a call', () => {
  const first = { model: 'm', inputTokens: 1, costUsd: 0.5, costSource: 'told' } as const;
  expect(addAttempt(undefined, first)).toBe(first);
  expect(
    addAttempt(first, { inputTokens: 2, outputTokens: 3, costUsd: 0.25, costSource: 'table', priceTable: 't', estimated: true }),
  ).toEqual({
    model: 'm',
    inputTokens: 3,
    outputTokens: 3,
    costUsd: 0.75,
    costSource: 'table',
    priceTable: 't',
    estimated: true,
  });
  expect(addAttempt(first, { inputTokens: 2, costSource: 'unknown' })).toMatchObject({ costUsd: 0.5, costSource: 'told' });
});

it('shows the usage of a call on its result, and on nothing else', () => {
  const usage = { model: 'm', costUsd: 0.5 };
  const measured = measuredIn({ usage, callUsage: { ...usage, costUsd: 0.75 }, session: 's' });
  const value = withMeasured('high', () => measured) as Value;
  expect(dataOf(value)).toBe('high');
  expect(['usage', 'cost', 'model', 'session'].map((name) => dataOf(mxField(value, name)))).toEqual([
    { model: 'm', costUsd: 0.75 },
    0.75,
    'm',
    's',
  ]);
  expect(['usage', 'cost', 'model', 'session'].map((name) => mxField('high', name))).toEqual([null, null, null, null]);
  expect(measuredIn({})).toBeUndefined();
});

it('shows on the result of a call nothing of a call inside', () => {
  const inner = annotate('high', { labels: ['llm'], measured: () => ({ session: 'inner' }) });
  expect(mxField(withMeasured(inner, undefined) as Value, 'session')).toBeNull();
  const word = withMeasured(new Signal('done', inner, true), undefined) as Signal;
  expect(mxField(word.value, 'session')).toBeNull();
});
