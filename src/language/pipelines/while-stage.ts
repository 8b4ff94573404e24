/** `while (cap) @f`: a stage that is run again until it says `done`. control.md 15. */
import type { WhileStage } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { performEffect } from '../../operation/perform-effect.js';
import { toNumber } from '../../values/numbers.js';
import type { Value } from '../../values/value.js';
import { runCallStage } from './call-stage.js';
import { Signal } from '../../runtime/completion.js';
import { durationOf } from '../../values/durations.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';

export async function runWhile(stage: WhileStage, input: Value, frame: Frame, ambient: ReadonlyMap<string, Value>): Promise<Value> {
  const cap = toNumber(await frame.evaluate(stage.cap, frame));
  const pace = stage.pace && (await frame.evaluate(stage.pace, frame));
  const paceMs = pace === undefined ? 0 : durationOf(pace, locationOf(frame.module, stage.at));
  let state = input;
  for (let turn = 1; turn <= cap; turn++) {
    if (turn > 1 && paceMs > 0) await performEffect(frame, 'clock.sleep', { ms: paceMs });
    const inner: Frame = { ...frame, context: { ...frame.context, while: { iteration: turn, limit: cap } } };
    const outcome = await runCallStage(stage.call, state, inner, new Map([...ambient, ['input', state]]), false);
    if (!(outcome instanceof Signal)) state = outcome;
    else if (outcome.word === 'done') return outcome.given ? outcome.value : state;
    else if (outcome.given) state = outcome.value;
    const breath = frame.run.cooperativeYield.afterTurn(frame.deadline);
    if (breath) await breath;
  }
  throw new MlldError('WHILE_CAP', `while: the cap of ${cap} turns is reached without done`, {
    location: locationOf(frame.module, stage.at),
  });
}
