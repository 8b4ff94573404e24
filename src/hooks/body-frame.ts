/** Makes the frame in which the body of a hook or the rules of a guard run. instrumentation.md 5.5, 7 and 8. */
import { OUTERMOST, type Context } from '../runtime/context.js';
import { PLAIN, type Frame } from '../runtime/frame.js';
import type { Module } from '../runtime/module.js';
import type { Operation } from '../runtime/operation.js';
import { Scope } from '../runtime/scope.js';
import type { Value } from '../values/value.js';

interface BodySetting {
  /** The file that declares the hook or guard, whose names the body sees. */
  readonly module: Module;
  /** The frame of the hooked operation. */
  readonly frame: Frame;
  readonly operation: Operation;
  /** Names the body's operations in paths. */
  readonly segment: string;
  readonly ambient: { readonly input: Value; readonly output?: Value };
  /** The context of the body beyond the loops and stages around the operation. */
  readonly context: Pick<Context, 'suppress' | 'denied'> & Partial<Pick<Context, 'guard' | 'args' | 'checkpoint' | 'hookErrors'>>;
  /** The attempt that the calls of the body belong to; by default the one around the operation. */
  readonly aside?: Frame['aside'];
}

/**
 * A body belongs to its file and not to the place of the operation, so that it does not inherit from there (running calls, streaming
 * commands). `@mx` describes the operation; guards and lookups further out are not about it, and are left out.
 */
export function bodyFrame({ module, frame, operation, segment, ambient, context, aside }: BodySetting): Frame {
  const scope = new Scope('function', module.scope);
  scope.define({ name: 'input', value: ambient.input, kind: 'ambient' });
  if ('output' in ambient) scope.define({ name: 'output', value: ambient.output, kind: 'ambient' });
  const { run, evaluate, execute } = frame;
  const { for: iteration, loop, while: whileLoop, stage, attempt, call, errors } = frame.context;
  return {
    run,
    module,
    scope,
    op: frame.op.child(segment),
    context: {
      ...OUTERMOST,
      op: operation,
      for: iteration,
      loop,
      while: whileLoop,
      stage,
      attempt,
      call: operation.llm ? call : undefined,
      errors: { list: errors.list },
      ...context,
    },
    within: 'body',
    ...PLAIN,
    aside: aside ?? frame.attempt ?? frame.aside,
    secret: frame.secret,
    deadline: frame.deadline,
    evaluate,
    execute,
  };
}
