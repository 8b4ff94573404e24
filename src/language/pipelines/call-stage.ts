/** Runs a stage that calls a function of the script or a built-in stage. control.md 19. */
import type { CallStage } from '../../../grammar/ast.js';
import { transformerNames } from '../../../grammar/keywords.js';
import { MlldError } from '../../errors.js';
import { Callable } from '../../values/kinds/callable.js';
import { closest } from '../../values/suggest.js';
import { dataOf, flow, type Value } from '../../values/value.js';
import { evaluateArguments } from '../calls/arguments.js';
import { builtIn } from '../expressions/built-ins.js';
import { existenceStage } from '../expressions/existence-tests.js';
import type { Outcome } from '../../runtime/completion.js';
import { callOutcome, lenient } from '../../runtime/evaluator-ports.js';
import { hintOfLater, locationOf, rise } from '../../runtime/errors.js';
import { Executable } from '../../runtime/definitions/executable.js';
import type { Frame } from '../../runtime/frame.js';
import { Scope } from '../../runtime/scope.js';
import { stageInput } from './stage-input.js';

export async function runCallStage(
  stage: CallStage,
  input: Value,
  frame: Frame,
  ambient: ReadonlyMap<string, Value>,
  repeatable: boolean,
): Promise<Outcome> {
  const isThere = stage.path.length === 0 ? existenceStage(stage.name, frame) : undefined;
  if (isThere) return flow(await isThere(input, frame), [input]);
  const callee = await stageFunction(stage, frame);
  const explicit = await evaluateArguments(stage.args, withInput(frame, input));
  const details = { at: stage.at, called: [stage.name, ...stage.path], ambient, repeatable, isStage: true } as const;
  if (!(callee instanceof Executable)) {
    return callOutcome(callee, [input, ...explicit], frame, details).catch((error: unknown) => {
      throw rise(error, frame.module, stage.at, `@${details.called.join('.')}`);
    });
  }
  const passed = callee.params.length === 0 ? explicit : [stageInput(callee, input), ...explicit];
  // Missing arguments of a stage are the empty text, surplus ones are ignored.
  const args = callee.params.map((_, i) => (i < passed.length ? passed[i] : ''));
  return callOutcome(callee, args, frame, details);
}

/** Finds the function of a stage; one of the script wins over a built-in stage of its name. Throws UNKNOWN_STAGE. */
async function stageFunction(stage: CallStage, frame: Frame): Promise<Callable> {
  const written = [stage.name, ...stage.path].join('.');
  const steps = stage.path.map((name) => ({ kind: 'field' as const, name, at: stage.at }));
  const binding = frame.scope.find(stage.name);
  const found = binding ? dataOf(await lenient({ kind: 'reference', name: stage.name, steps, at: stage.at }, frame)) : builtIn(written);
  if (found instanceof Callable) return found;
  const later = hintOfLater(stage.name, frame.module, stage.at);
  const near = closest(stage.name, [...frame.scope.visible(), ...transformerNames]);
  throw new MlldError(
    'UNKNOWN_STAGE',
    binding ? `@${written} is not a function and can't be a stage` : `The pipeline stage @${written} is not defined`,
    {
      location: locationOf(frame.module, stage.at),
      hint: binding ? undefined : (later ?? (near === undefined ? undefined : `did you mean @${near}?`)),
    },
  );
}

export function withInput(frame: Frame, value: Value): Frame {
  const scope = new Scope('block', frame.scope);
  scope.define({ name: 'input', value, kind: 'ambient' });
  return { ...frame, scope };
}

/** Runs a call of a leading group: nothing is piped into it, and its arguments fill the parameters from the first. */
export async function runUnpiped(member: CallStage, frame: Frame): Promise<Outcome> {
  const callee = await stageFunction(member, frame);
  const args = await evaluateArguments(member.args, frame);
  return callOutcome(callee, args, frame, { at: member.at, called: [member.name, ...member.path] });
}
