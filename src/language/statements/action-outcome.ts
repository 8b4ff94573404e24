/** Evaluates an action or a body to a value, or to a control word for the loop or pipeline around it. */
import type { Action, Block, Statement, When } from '../../../grammar/ast.js';
import { Return, type Outcome } from '../../runtime/completion.js';
import { evaluateControl } from './control-flow.js';
import type { Frame } from '../../runtime/frame.js';
import { isStatement } from './statement-kinds.js';
import { Scope } from '../../runtime/scope.js';
import { decide } from './when.js';

/** Evaluates an action in a position that needs a value; undefined for an effect and for a block that returns nothing. */
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
  const decision = await decide(when, frame, 'value');
  return decision.kind === 'nothing' ? null : decision.outcome;
}

async function outcomeOfStatement(statement: Statement, frame: Frame): Promise<Outcome> {
  const completion = await frame.execute([statement], frame);
  return completion instanceof Return ? completion.value : (completion ?? null);
}
