/** `new @URL("…")`: an object of the host. world.md 11.3. */
import type { ApplyStep, MethodStep, New } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { HostFunction } from '../../values/kinds/host-function.js';
import { constructHost } from '../../modules/node-module.js';
import { dataOf, type Value } from '../../values/value.js';
import { evaluateArguments } from './arguments.js';
import { stepsToCallee } from './callee.js';
import { lenient } from '../../runtime/evaluator-ports.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';

export async function evaluateNew({ callee, at }: New, frame: Frame): Promise<Value> {
  const last = callee.steps.at(-1) as ApplyStep | MethodStep | undefined;
  const target = dataOf(await lenient({ ...callee, steps: stepsToCallee(callee.steps) }, frame));
  if (!(target instanceof HostFunction)) {
    throw new MlldError('NOT_A_CLASS', `new @${callee.name}: @${callee.name} is not a class of a Node module`, {
      location: locationOf(frame.module, at),
    });
  }
  return constructHost(target, await evaluateArguments(last?.args ?? [], frame), locationOf(frame.module, at));
}
