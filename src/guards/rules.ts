/** The rules of one guard: the first whose condition holds decides. instrumentation.md 4.3. */
import type { GuardRule } from '../../grammar/ast.js';
import { bodyFrame } from '../hooks/body-frame.js';
import { executeLet } from '../language/statements/variables.js';
import { rise } from '../runtime/errors.js';
import { lenient } from '../runtime/evaluator-ports.js';
import type { Frame } from '../runtime/frame.js';
import type { GuardTrail, GuardTry } from '../runtime/guard-trail.js';
import type { Operation } from '../runtime/operation.js';
import { isTruthy } from '../values/truth.js';
import type { Value } from '../values/value.js';
import { allowOptions, type AllowOptions } from './allow-options.js';
import { displayFilter, type Phase, type RegisteredGuard } from './registry.js';

export type Verdict =
  | { readonly decision: 'allow'; readonly value?: { readonly value: Value }; readonly options?: AllowOptions }
  | { readonly decision: 'deny' | 'retry'; readonly reason: string };

export interface Case {
  readonly phase: Phase;
  readonly operation: Operation;
  /** `@input` */
  readonly input: Value;
  /** The values whose labels are `@mx.labels`. */
  readonly involved: readonly Value[];
  /** `@output`: the output of the operation, and before it the text of the input that `allow VALUE` would replace. */
  readonly output: () => Value;
  readonly trail: GuardTrail;
  readonly tries: readonly GuardTry[];
}

/** Allows the operation when no rule holds. Throws the error of a condition, so that an operation that can't be judged does not happen. */
export async function judge(guard: RegisteredGuard, frame: Frame, about: Case): Promise<Verdict> {
  const { module, node } = guard;
  const inside = guardFrame(guard, frame, about);
  for (const rule of node.rules) {
    try {
      if (rule.kind === 'let') await executeLet(rule, inside);
      else if (rule.condition === 'any' || isTruthy(await lenient(rule.condition, inside))) return await act(rule, inside);
    } catch (error) {
      throw rise(error, module, rule.at, 'guard');
    }
  }
  return { decision: 'allow' };
}

async function act({ action }: GuardRule, frame: Frame): Promise<Verdict> {
  if (action.kind !== 'allow') return { decision: action.kind, reason: action.text };
  const value = action.value && { value: (await frame.evaluate(action.value, frame)) ?? null };
  const options = await allowOptions(action, frame);
  return { decision: 'allow', ...(value && { value }), ...(options && { options }) };
}

/** Makes the frame of the rules, where neither hooks nor guards act: guards can't stop a guard. */
function guardFrame(guard: RegisteredGuard, frame: Frame, { phase, operation, input, involved, output, trail, tries }: Case): Frame {
  const { node, module, number } = guard;
  const about = {
    denied: false,
    decision: trail.decision,
    name: node.name ?? null,
    reason: trail.reasons[0] ?? null,
    reasons: trail.reasons,
    hints: trail.hints,
    trace: trail.trace,
    filter: displayFilter(node.filter),
    timing: phase,
    try: tries.length + 1,
    tries,
    inputs: involved,
  };
  const { checkpoint, call } = frame.context;
  const inside = bodyFrame({
    module,
    frame,
    operation,
    segment: `guard:${node.name ?? number}`,
    ambient: { input },
    aside: operation.llm && (call?.attempt?.() ?? operation.repeat?.first),
    context: {
      suppress: 'all',
      denied: false,
      guard: about,
      args: namedArguments(operation),
      ...(operation.llm && checkpoint ? { checkpoint } : {}),
    },
  });
  const binding = {
    name: 'output',
    kind: 'ambient',
    // Most guards do not look at it, and the text of a large input is long.
    get value() {
      return output() ?? null;
    },
  } as const;
  inside.scope.define(binding);
  return inside;
}

/** Returns the arguments of a call by parameter name. */
export function namedArguments({ call, inputs }: Operation): readonly { readonly name: string; readonly value: Value }[] {
  return call ? call.params.map((name, i) => ({ name, value: inputs[i] ?? null })) : [];
}
