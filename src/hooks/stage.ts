/**
 * Runs the hooks around one operation. instrumentation.md 5.4 to 5.7, 5.11, 5.12.
 *
 * HOOK-1  All matching hooks of a phase run, in the order of registration; each sees the values as those before it left them.
 * HOOK-2  Prefixes are tested once per phase, against the arguments as they were when the phase began.
 * HOOK-3  Nothing that a hook does fails the operation. Only the end of the whole run (an interrupt, its time limit) passes through.
 */
import type { Filter } from '../../grammar/ast.js';
import { messageOf, MlldError } from '../errors.js';
import { decide } from '../language/statements/when.js';
import { Return, Signal } from '../runtime/completion.js';
import type { Context } from '../runtime/context.js';
import { denialContext } from '../runtime/denial.js';
import { siteOfError } from '../runtime/errors.js';
import type { Frame, RunState } from '../runtime/frame.js';
import type { Operation } from '../runtime/operation.js';
import type { Ended, HookWatch } from '../runtime/ports.js';
import { textOf } from '../values/text.js';
import { flow, type DataObject, type Value } from '../values/value.js';
import { WorldError } from '../world/world.js';
import { bodyFrame } from './body-frame.js';
import { filterText } from './filter.js';
import { oneOrAll, arrayOf, replaced, takesInput } from './inputs.js';
import type { HookRegistry, RegisteredHook } from './registry.js';
import type { WithinLimit } from './time-limit.js';

/** Returns undefined when no hook watches the operation. */
export function watchOperation(registry: HookRegistry, withinLimit: WithinLimit, operation: Operation): HookWatch | undefined {
  const { before, after } = registry.watching(operation);
  if (before.length === 0 && after.length === 0) return undefined;
  /** The errors of the hooks of this operation: its hooks see them as `@mx.hooks.errors`. */
  const errors: Value[] = [];

  async function runBefore(frame: Frame): Promise<readonly Value[]> {
    let { inputs } = operation;
    let shown: Value = undefined;
    for (const hook of matchingPrefix(before, inputs)) {
      const input = shown ?? (hook.filter.kind === 'function' ? arrayOf(inputs) : oneOrAll(inputs));
      const context = { suppress: 'hooks', denied: false, hookErrors: errors } as const;
      const returned = await fire(hook, frame, { ...operation, inputs }, { input }, context);
      if (returned === undefined) continue;
      if (takesInput(operation)) inputs = replaced(operation, inputs, returned);
      else shown = flow(returned, [input]);
    }
    return inputs;
  }

  async function runAfter(frame: Frame, received: Operation, { output: first, isReplaceable, denial }: Ended): Promise<Value> {
    const input = oneOrAll(received.inputs);
    const context = { suppress: 'hooks', hookErrors: errors, ...aboutGuards(denial), ...aboutLookup(frame, received) } as const;
    let output = first;
    for (const hook of matchingPrefix(after, received.inputs)) {
      const returned = await fire(hook, frame, received, { input, output: output ?? null }, context);
      if (returned !== undefined && isReplaceable) output = flow(returned, [output], received.labels);
    }
    return output;
  }

  /** Runs a hook and returns the value of its body; undefined for none, and when it fails (HOOK-3). */
  async function fire(
    hook: RegisteredHook,
    frame: Frame,
    seen: Operation,
    ambient: { readonly input: Value; readonly output?: Value },
    context: Pick<Context, 'suppress' | 'denied'> & Partial<Context>,
  ): Promise<Value> {
    const { run } = frame;
    const { id, module, filter, node } = hook;
    const startedMs = run.monotonicMs();
    let returned: Value = undefined;
    let error: string | undefined;
    /** The error as it may be recorded. */
    let recorded: { error: string; errorCode?: string } | undefined;
    try {
      const segment = `hook:${node.name ?? hook.number}`;
      const body = bodyFrame({ module, frame, operation: seen, segment, ambient, context });
      const timeOut = run.replayed?.timeOut({ op: frame.op.path, timing: node.timing, hook: id }, body);
      returned = await withinLimit((deadline) => returnedBy(hook, { ...body, deadline }), run, timeOut);
    } catch (caught) {
      if (isEndOfRun(caught)) throw caught;
      error = messageOf(caught);
      recorded = { error: run.secrets.messageOf(caught), ...codeOf(caught) };
      const record = errorRecord(hook, error);
      errors.push(record);
      run.hookErrors.push(record);
      warnOfHook(run, node.name === undefined ? id : `@${id}`, caught);
    }
    if (run.recorder.on) {
      const elapsedMs = Math.round((run.monotonicMs() - startedMs) * 1000) / 1000;
      const transformed = returned !== undefined;
      const { timing } = node;
      run.recorder.post({
        type: 'hook.fired',
        op: frame.op.path,
        hook: id,
        timing,
        filter: filterText(filter),
        transformed,
        elapsedMs,
        ...recorded,
      });
    }
    return returned;
  }

  return { before: runBefore, after: runAfter };
}

/** The cause is the hook with the place of the error in the script, whatever the item was. instrumentation.md 5.11. */
function warnOfHook(run: RunState, hook: string, error: unknown): void {
  const message = messageOf(error).replace(/\s*\n\s*/g, ' ');
  run.warn(`hook ${hook}: ${message}`, `hook ${hook} ${siteOfError(error)}`);
}

/** HOOK-2 */
function matchingPrefix(hooks: readonly RegisteredHook[], inputs: readonly Value[]): readonly RegisteredHook[] {
  if (!hooks.some(({ filter }) => prefixOf(filter) !== undefined)) return hooks;
  const first = textOf(inputs[0]);
  return hooks.filter(({ filter }) => first.startsWith(prefixOf(filter) ?? ''));
}

function prefixOf(filter: Filter): string | undefined {
  return filter.kind === 'function' ? filter.prefix : undefined;
}

/** A body returns with `=>`; a `when` also by the value of the branch that it takes. Control words have no effect in a hook. */
async function returnedBy({ node: { body } }: RegisteredHook, frame: Frame): Promise<Value> {
  if (body.kind === 'block') {
    const completion = await frame.execute(body.statements, frame);
    return completion instanceof Return && completion.hasValue ? (completion.value ?? null) : undefined;
  }
  const decision = await decide(body, frame, 'value');
  return decision.kind !== 'value' || decision.outcome instanceof Signal ? undefined : (decision.outcome ?? null);
}

function aboutGuards(denial: Ended['denial']): Pick<Context, 'denied'> & Partial<Context> {
  if (!denial) return { denied: false };
  return { denied: !denial.handled, guard: denialContext(denial.denial.facts) };
}

/** Only an llm call has a lookup of its own; the one in the frame of another operation is about the call around. */
function aboutLookup({ context }: Frame, { llm }: Operation): Partial<Context> {
  return llm && context.checkpoint ? { checkpoint: context.checkpoint } : {};
}

function isEndOfRun(error: unknown): boolean {
  return (error instanceof MlldError || error instanceof WorldError) && (error.code === 'INTERRUPTED' || error.code === 'TIMED_OUT');
}

function codeOf(error: unknown): { errorCode?: string } {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? { errorCode: code } : {};
}

const FILTER_KINDS = { function: 'function', operation: 'operation', label: 'data' } as const;

function errorRecord({ id, filter, node }: RegisteredHook, message: string): DataObject {
  return { hookId: id, hookName: node.name ?? null, timing: node.timing, filterKind: FILTER_KINDS[filter.kind], message };
}
