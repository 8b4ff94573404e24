/** Runs `while (cap) @f`: the stage is repeated until it ends with `done`. control.md 15. */
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
  for (let iteration = 1; iteration <= cap; iteration++) {
    if (iteration > 1 && paceMs > 0) await performEffect(frame, 'clock.sleep', { ms: paceMs });
    const inner: Frame = { ...frame, context: { ...frame.context, while: { iteration, limit: cap } } };
    const outcome = await runCallStage(stage.call, state, inner, new Map([...ambient, ['input', state]]), false);
    if (!(outcome instanceof Signal)) state = outcome;
    else if (outcome.word === 'done') return outcome.hasValue ? outcome.value : state;
    else if (outcome.hasValue) state = outcome.value;
    const pause = frame.run.cooperativeYield.step(frame.deadline);
    if (pause) await pause;
  }
  throw new MlldError('WHILE_CAP', `while: no \`done\` after ${cap} iterations, which is the cap`, {
    location: locationOf(frame.module, stage.at),
    hint: 'raise the cap, or end the stage with `done`',
  });
}
