/** Executes sequences of statements, blocks and `if`. control.md 2 and 10, values.md 3.4. */
import type { Block, If, Statement } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { bodyTimedOut } from '../../runtime/body-deadline.js';
import { isTruthy } from '../../values/truth.js';
import type { Value } from '../../values/value.js';
import { Return, Signal, type Completion, type Outcome } from '../../runtime/completion.js';
import { lenient } from '../../runtime/evaluator-ports.js';
import { locationOf, rise } from '../../runtime/errors.js';
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

/** Returns the value of the first `=>` in `var @x = [ let …; => … ]`, null without one, or the control word that ends the block. */
export async function boundBlockOutcome(node: Block, frame: Frame): Promise<Outcome> {
  const completion = await frame.execute(node.statements, frameOfValueBlock(frame));
  return completion instanceof Return ? completion.value : (completion ?? null);
}

/** Evaluates a block that stages follow, or that is a part of an expression. */
export async function evaluateBlock(node: Block, frame: Frame): Promise<Value> {
  return valueOfBlockEnd(await frame.execute(node.statements, frameOfValueBlock(frame)), node, frame);
}

export function frameOfValueBlock(frame: Frame): Frame {
  return { ...frame, scope: new Scope('block', frame.scope), within: 'body' };
}

/** Throws WORD_IN_VALUE for a control word: there is no way from here to the loop or pipeline that it is meant for. */
export function valueOfBlockEnd(completion: Completion, { at }: Block, frame: Frame): Value {
  if (!(completion instanceof Signal)) return completion?.value ?? null;
  const { word } = completion;
  throw new MlldError('WORD_IN_VALUE', `\`${word}\` can't leave a block that stages or options follow`, {
    location: locationOf(frame.module, at),
    hint: `bind the block's value first: let @x = [ … ], which \`${word}\` may leave`,
  });
}

/** Executes `if`, which has no value of its own: a `=>` in it ends the block around it. */
export async function executeIf(node: If, frame: Frame): Promise<Completion> {
  const holds = isTruthy(await lenient(node.condition, frame));
  const block = holds ? node.then : node.otherwise;
  return block ? frame.execute(block.statements, { ...frame, scope: new Scope('block', frame.scope) }) : undefined;
}
