/** What an action or a body gives: a value, or a control word for whoever waits for one. */
import type { Action } from '../../grammar/ast.js';
import { Return, Signal, type Outcome } from './completion.js';
import { evaluateControl } from './control.js';
import type { Frame } from './frame.js';
import { isStatement } from './statement-kinds.js';
import { Scope } from './scope.js';
import { decide } from './when.js';

/** The outcome in a place that wants a value; undefined from a block that returns nothing and from an effect. */
export async function actionOutcome(action: Action, frame: Frame): Promise<Outcome> {
  switch (action.kind) {
    case 'control':
      return evaluateControl(action, frame);
    case 'block': {
      const completion = await frame.execute(action.statements, { ...frame, scope: new Scope('block', frame.scope) });
      return completion instanceof Return ? completion.value : completion;
    }
    case 'when': {
      const decision = await decide(action, frame);
      return decision.kind === 'nothing' ? null : decision.outcome;
    }
    default:
      if (!isStatement(action)) return frame.evaluate(action, frame);
      return outcomeOfStatement(await frame.execute([action], frame));
  }
}

function outcomeOfStatement(completion: Return | Signal | undefined): Outcome {
  return completion instanceof Return ? completion.value : (completion ?? null);
}
