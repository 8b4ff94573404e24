/** Evaluates effects and blocks whose value is used: of an iteration, and of the arm of a `when`. control.md 9.4 and 11.5. */
import type { Block, Run, Show, Statement } from '../../../grammar/ast.js';
import { Return, type Outcome } from '../../runtime/completion.js';
import type { Frame } from '../../runtime/frame.js';
import { Scope } from '../../runtime/scope.js';
import { showText } from '../../values/show.js';
import { annotate, flow, type Value } from '../../values/value.js';
import { runInSequence } from './block.js';
import { performRun, performShow } from './show.js';
import { isSilenced } from './statement-kinds.js';

/** Returns the text that `show` shows, what `run` captures, and the value of a block; undefined for a block without one. */
export async function valueOfAction(action: Block | Run | Show, frame: Frame): Promise<Outcome> {
  return action.kind === 'block' ? valueOfBlock(action, frame) : valueOfLast(action, frame);
}

/** A block that returns nothing has the value of its last statement, if that is a call, a bare command or `show`. */
async function valueOfBlock({ statements }: Block, frame: Frame): Promise<Outcome> {
  const inner: Frame = { ...frame, scope: new Scope('block', frame.scope) };
  const last = statements.at(-1);
  const hasValue =
    last?.kind === 'show' || (last?.kind === 'run' && last.isBare) || (last?.kind === 'call' && last.value.kind !== 'stream');
  const completion = await frame.execute(hasValue ? statements.slice(0, -1) : statements, inner);
  if (completion) return completion instanceof Return ? completion.value : completion;
  return hasValue ? valueOfLast(last, inner) : undefined;
}

async function valueOfLast(statement: Statement, frame: Frame): Promise<Value> {
  let value: Value;
  await runInSequence([statement], frame, async () => {
    value = await valueOf(statement, frame);
    return undefined;
  });
  return value;
}

async function valueOf(statement: Statement, frame: Frame): Promise<Value> {
  if (isSilenced(statement, frame)) return undefined;
  switch (statement.kind) {
    case 'show': {
      const shown = await performShow(statement, frame);
      return flow(annotate(showText(shown), {}), [shown]);
    }
    case 'run':
      return performRun(statement, frame, 'captured');
    case 'call':
      return frame.evaluate(statement.value, frame);
    default:
      throw new Error(`a ${statement.kind} has no value`);
  }
}
