/** Evaluates and executes the three forms of `when`. control.md 9. */
import type { Expression, When, WhenArm } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { isTruthy } from '../../values/truth.js';
import type { Value } from '../../values/value.js';
import { Return, Signal, type Completion, type Outcome } from '../../runtime/completion.js';
import { lenient, outcomeOf } from '../../runtime/evaluator-ports.js';
import { showAction } from './show.js';
import { valueOfAction } from './action-value.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import { Scope } from '../../runtime/scope.js';
import { isStatement } from './statement-kinds.js';
import { executeAppendTo, executeLet } from './variables.js';

export type Decision =
  | { readonly kind: 'nothing' }
  /** An effect, or a block without `=>`. In a position that needs a value, `show` has its text and `pass` null; the others have none. */
  | { readonly kind: 'acted'; readonly outcome: Value }
  | { readonly kind: 'value'; readonly outcome: Outcome; readonly fromBlock: boolean };

/**
 * The position of a `when`: in a `value` a `let` may hide names of the module; in an `item`, the value of an iteration, `run` and the last
 * statement of a block have a value too.
 */
export type Position = 'statement' | 'value' | 'item';

const NOTHING: Decision = { kind: 'nothing' };
const ACTED: Decision = { kind: 'acted', outcome: undefined };
const PASSED: Decision = { kind: 'acted', outcome: null };

/** Evaluates `when` in a position that needs a value: null when no arm matched. */
export async function evaluateWhen(node: When, frame: Frame): Promise<Value> {
  const decision = await decide(node, frame, 'value');
  if (decision.kind === 'nothing') return null;
  return decision.outcome instanceof Signal ? decision.outcome.value : (decision.outcome ?? null);
}

/** Runs the first arm whose condition holds. The conditions after it are not evaluated. */
export async function decide(node: When, frame: Frame, position: Position): Promise<Decision> {
  const found = await matchingArm(node, frame, position);
  return found ? act(found.arm, found.frame, position) : NOTHING;
}

async function matchingArm(node: When, frame: Frame, position: Position): Promise<{ arm: WhenArm; frame: Frame } | undefined> {
  const inner = {
    ...frame,
    scope: new Scope(position === 'statement' ? 'block' : 'choice', frame.scope),
    ...(node.subject ? { subject: await subjectOf(node.subject, frame) } : {}),
  };
  const judging: Frame = position === 'statement' && frame.within !== 'body' ? inner : { ...inner, sorting: true };
  let fallback: WhenArm | undefined;
  for (const entry of node.entries) {
    if (entry.kind === 'let') await executeLet(entry, inner);
    else if (entry.kind === 'append-to') await executeAppendTo(entry, inner);
    else if (entry.condition === 'none') {
      fallback ??= entry;
    } else if (fallback && entry.condition !== 'any') {
      throw new MlldError('NONE_NOT_LAST', '`none` must be the last arm of a when', { location: locationOf(frame.module, fallback.at) });
    } else if (entry.condition === 'any' || (await holds(entry.condition, judging))) return { arm: entry, frame: inner };
  }
  return fallback && { arm: fallback, frame: inner };
}

async function subjectOf(node: Expression, frame: Frame): Promise<{ readonly value: Value }> {
  return { value: await lenient(node, frame) };
}

async function holds(condition: Expression, frame: Frame): Promise<boolean> {
  return isTruthy(await lenient(condition, frame));
}

async function act(arm: WhenArm, frame: Frame, position: Position): Promise<Decision> {
  const { action } = arm;
  if (position === 'item' && (action.kind === 'block' || action.kind === 'run')) {
    const outcome = await valueOfAction(action, frame);
    return outcome === undefined ? ACTED : { kind: 'value', outcome, fromBlock: action.kind === 'block' };
  }
  if (action.kind === 'block') {
    const completion = await frame.execute(action.statements, { ...frame, scope: new Scope('block', frame.scope) });
    if (completion instanceof Return) return { kind: 'value', outcome: completion.value, fromBlock: true };
    return completion ? { kind: 'value', outcome: completion, fromBlock: true } : ACTED;
  }
  if (action.kind === 'when') {
    const inner = await decide(action, frame, position);
    return inner.kind === 'nothing' ? PASSED : inner;
  }
  if (action.kind === 'control' && action.word === 'pass') return PASSED;
  // The handler of a denial has no value: its text appears once.
  if (action.kind === 'show' && !frame.context.denied) return { kind: 'acted', outcome: (await valueOfAction(action, frame)) as Value };
  const outcome = await outcomeOf(action, frame);
  if (outcome instanceof Signal) return { kind: 'value', outcome, fromBlock: false };
  return isStatement(action) ? ACTED : { kind: 'value', outcome, fromBlock: false };
}

/** Executes `when` as a statement. The block around it (`frame.within`) decides what becomes of a value. */
export async function executeWhen(node: When, frame: Frame): Promise<Completion> {
  if (frame.within === 'script') return executeInScript(node, frame);
  const decision = await decide(node, frame, 'statement');
  if (decision.kind !== 'value') return undefined;
  const { outcome, fromBlock } = decision;
  if (outcome instanceof Signal) return outcome;
  if (frame.within === 'body' || fromBlock) return new Return(outcome);
  return undefined;
}

/** Executes `when` at the top level: values and results of calls are shown, and `=>` in a block ends the script. control.md 9.5. */
async function executeInScript(node: When, frame: Frame): Promise<Completion> {
  const found = await matchingArm(node, frame, 'statement');
  if (!found) return undefined;
  const { action } = found.arm;
  if (action.kind === 'block') return frame.execute(action.statements, { ...found.frame, scope: new Scope('block', found.frame.scope) });
  if (action.kind === 'var') return frame.execute([action], frame); // `when C => var @m = V` declares in the module
  if (action.kind === 'when') return executeInScript(action, found.frame);
  if (action.kind === 'for' || action.kind === 'loop' || isStatement(action)) return frame.execute([action], found.frame);
  return showAction(action, found.frame);
}
