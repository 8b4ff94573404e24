/** Executes sequences of statements, blocks and `if`. control.md 2 and 10, values.md 3.4. */
import type { Block, If, Statement } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { bodyTimedOut } from '../../runtime/body-deadline.js';
import { isTruthy } from '../../values/truth.js';
import type { Value } from '../../values/value.js';
import { Return, type Completion } from '../../runtime/completion.js';
import { lenient } from '../../runtime/evaluator-ports.js';
import { rise } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import { Scope } from '../../runtime/scope.js';

/** Runs statements in order; the first completion ends the sequence. Starts none once the run has to stop or a hook is out of time. */
export async function runInSequence(
  list: readonly Statement[],
  frame: Frame,
  run: (node: Statement) => Promise<Completion>,
): Promise<Completion> {
  for (const statement of list) {
    try {
      if (frame.run.signal.aborted) throw new MlldError('INTERRUPTED', 'The run was ended');
      if (frame.deadline?.isOver) throw bodyTimedOut();
      const completion = await run(statement);
      if (completion) return completion;
    } catch (error) {
      throw rise(error, frame.module, statement.at, statement.kind);
    }
  }
  return undefined;
}

/** Returns the value of the first `=>` in `var @x = [ let …; => … ]`, null without one. */
export async function evaluateBlock(node: Block, frame: Frame): Promise<Value> {
  const completion = await frame.execute(node.statements, { ...frame, scope: new Scope('block', frame.scope), within: 'body' });
  return completion instanceof Return ? completion.value : null;
}

/** Executes `if`, which has no value of its own: a `=>` in it ends the block around it. */
export async function executeIf(node: If, frame: Frame): Promise<Completion> {
  const holds = isTruthy(await lenient(node.condition, frame));
  const block = holds ? node.then : node.otherwise;
  return block ? frame.execute(block.statements, { ...frame, scope: new Scope('block', frame.scope) }) : undefined;
}
