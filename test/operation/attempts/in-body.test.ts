/** The body of a call sees its attempt in `@mx.call`, and not what hooks and guards see. calls.md 17.2. */
import { expect, it } from 'vitest';
import { contextValue } from '../../../src/language/expressions/context-variables.js';
import { CallProgress } from '../../../src/operation/attempts/call-progress.js';
import { inBody } from '../../../src/operation/attempts/in-body.js';
import { bareRun } from '../../support/bare-run.js';

it('hides the view of hooks and guards in the body, and leaves any other frame as it is', () => {
  const { frame } = bareRun();
  expect(inBody(frame)).toBe(frame);
  const progress = new CallProgress();
  const seen = { ...frame, context: { ...frame.context, call: { view: () => ({ ...progress.view, lane: 'tide' }) } } };
  expect(contextValue('call', seen)).toMatchObject({ outcome: null, attempts: 0, try: 1, lane: 'tide' });
  progress.tries = 2;
  progress.classes.push('overloaded');
  progress.callUsage = { costUsd: 0.5 };
  expect(contextValue('call', seen)).toMatchObject({ outcome: 'completed', attempts: 2, try: 2, class: 'overloaded', cost: 0.5 });
  progress.isPassedOn = true;
  expect(contextValue('call', seen)).toMatchObject({ outcome: 'failed' });
  expect(contextValue('call', inBody(seen))).toMatchObject({ outcome: null, attempts: 0, lane: null, cost: null });
});
