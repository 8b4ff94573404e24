/** The frame in which the body of a hook or the rules of a guard run. instrumentation.md 5.5, 7 and 8. */
import { PLAIN, type Frame } from '../runtime/frame.js';
import { OUTERMOST, type Context } from '../runtime/context.js';
import type { Module } from '../runtime/module.js';
import { Scope } from '../runtime/scope.js';
import type { Operation } from '../runtime/operation.js';
import type { Value } from '../values/value.js';

interface Around {
  /** Where the hook or guard is declared: its names are seen. */
  readonly module: Module;
  /** Of the hooked operation. */
  readonly frame: Frame;
  readonly operation: Operation;
  /** Names the body's operations in paths. */
  readonly segment: string;
  readonly ambient: { readonly input: Value; readonly output?: Value };
  /** What the body knows beyond the loops and stages around the operation. */
  readonly context: Pick<Context, 'suppress' | 'denied'> & Partial<Pick<Context, 'guard' | 'args' | 'checkpoint' | 'hookErrors'>>;
}

/**
 * A body stands below its file and not below the place of the operation, so nothing of that place (calls that run, commands that
 * stream) is handed on. `@mx` describes the operation; what was said about guards and lookups further out is not about it.
 */
export function bodyFrame({ module, frame, operation, segment, ambient, context }: Around): Frame {
  const scope = new Scope('function', module.scope);
  scope.define({ name: 'input', value: ambient.input, kind: 'ambient' });
  if ('output' in ambient) scope.define({ name: 'output', value: ambient.output, kind: 'ambient' });
  const { run, evaluate, execute } = frame;
  const { for: iteration, loop, while: turn, stage, attempt, errors } = frame.context;
  return {
    run,
    module,
    scope,
    op: frame.op.child(segment),
    context: { ...OUTERMOST, op: operation, for: iteration, loop, while: turn, stage, attempt, errors: { list: errors.list }, ...context },
    within: 'body',
    ...PLAIN,
    secret: frame.secret,
    deadline: frame.deadline,
    evaluate,
    execute,
  };
}
