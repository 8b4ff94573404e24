/** Functions and classes that a script imported from a Node module: calls of them, and `new @URL("…")`. world.md 11.3. */
import type { ApplyStep, MethodStep, New } from '../../../grammar/ast.js';
import { messageOf, MlldError, type SourceLocation } from '../../errors.js';
import { lenient } from '../../runtime/evaluator-ports.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import { HostFunction } from '../../values/kinds/host-function.js';
import { fromHost, toNative } from '../../values/native.js';
import { dataOf, type Value } from '../../values/value.js';
import { evaluateArguments } from './arguments.js';
import { stepsToCallee } from './callee.js';

/** Returns what the function returned; a promise is awaited. Throws CODE_THREW at the place of the call. */
export async function callHost(host: HostFunction, args: readonly Value[], location: SourceLocation): Promise<Value> {
  const natives = args.map(toNative);
  try {
    return fromHost(await host.apply(natives));
  } catch (cause) {
    throw hostThrew(`@${host.name}`, cause, location);
  }
}

/** Constructs an object of a class, whose fields a script can read. Throws NOT_A_CLASS, CODE_THREW. */
export async function evaluateNew({ callee, at }: New, frame: Frame): Promise<Value> {
  const last = callee.steps.at(-1) as ApplyStep | MethodStep | undefined;
  const target = dataOf(await lenient({ ...callee, steps: stepsToCallee(callee.steps) }, frame));
  if (!(target instanceof HostFunction)) {
    throw new MlldError('NOT_A_CLASS', `new @${callee.name}: @${callee.name} is not a class of a Node module`, {
      location: locationOf(frame.module, at),
      hint: `import the class first: import { ${callee.name} } from node @module`,
    });
  }
  return constructHost(target, await evaluateArguments(last?.args ?? [], frame), locationOf(frame.module, at));
}

function constructHost(host: HostFunction, args: readonly Value[], location: SourceLocation): Value {
  const natives = args.map(toNative);
  try {
    return fromHost(Reflect.construct(host.target, natives));
  } catch (cause) {
    throw hostThrew(`new @${host.name}`, cause, location);
  }
}

function hostThrew(called: string, cause: unknown, location: SourceLocation): MlldError {
  return new MlldError('CODE_THREW', `${called}: ${messageOf(cause)}`, { location, cause });
}
