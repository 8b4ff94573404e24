/** What an action or a body gives: a value, or a control word for whoever waits for one. */
import type { Action, Block, Statement, When } from '../../../grammar/ast.js';
import { Return, type Outcome } from '../../runtime/completion.js';
import { evaluateControl } from './control-flow.js';
import type { Frame } from '../../runtime/frame.js';
import { isStatement } from './statement-kinds.js';
import { Scope } from '../../runtime/scope.js';
import { decide } from './when.js';

/** The outcome in a place that wants a value; undefined from a block that returns nothing and from an effect. */
export function actionOutcome(action: Action, frame: Frame): Promise<Outcome> {
  switch (action.kind) {
    case 'control':
      return evaluateControl(action, frame);
    case 'block':
      return outcomeOfBlock(action, frame);
    case 'when':
      return outcomeOfWhen(action, frame);
    default:
      return isStatement(action) ? outcomeOfStatement(action, frame) : frame.evaluate(action, frame);
  }
}

async function outcomeOfBlock({ statements }: Block, frame: Frame): Promise<Outcome> {
  const completion = await frame.execute(statements, { ...frame, scope: new Scope('block', frame.scope) });
  return completion instanceof Return ? completion.value : completion;
}

async function outcomeOfWhen(when: When, frame: Frame): Promise<Outcome> {
  const decision = await decide(when, frame);
  return decision.kind === 'nothing' ? null : decision.outcome;
}

async function outcomeOfStatement(statement: Statement, frame: Frame): Promise<Outcome> {
  const completion = await frame.execute([statement], frame);
  return completion instanceof Return ? completion.value : (completion ?? null);
}
