/** `@mx` describes the running operation. All its fields are always defined. control.md 25, instrumentation.md 8. */
import { annotate, asElement, flow, labelsOf, taintOf, union, NO_LABELS, type DataObject, type Value } from '../../values/value.js';
import type { AttemptView } from '../../calls/attempt.js';
import type { CallSight } from '../../runtime/context.js';
import type { Frame } from '../../runtime/frame.js';
import { GUARD_TRIES, type GuardDecision } from '../../runtime/guard-trail.js';

const rows: { readonly [name: string]: (frame: Frame) => Value } = {
  op: ({ context: { op } }) => ({
    type: op?.kind ?? null,
    subtype: op?.subtype ?? null,
    name: op?.name ?? null,
    labels: op?.labels ?? [],
    target: op?.target ?? null,
  }),
  for: ({ context: { for: loop } }) => ({ ...(loop ?? NO_FOR) }),
  loop: ({ context: { loop } }) => ({ iteration: loop?.iteration ?? null, limit: loop?.limit ?? null, active: loop ? true : null }),
  while: ({ context }) => ({
    iteration: context.while?.iteration ?? null,
    limit: context.while?.limit ?? null,
    active: context.while ? true : null,
  }),
  stage: ({ context }) => context.stage?.stage ?? 0,
  isPipeline: ({ context }) => context.stage?.isPipeline ?? false,
  try: ({ context }) => context.stage?.try ?? 1,
  tries: ({ context }) => context.stage?.tries ?? [],
  hint: ({ context }) => context.stage?.hint ?? null,
  input: ({ context, scope }) => context.stage?.input ?? scope.find('input')?.value ?? null,
  lastOutput: ({ context }) => context.stage?.lastOutput ?? null,
  errors: ({ context }) => context.errors.list,
  denied: ({ context }) => context.denied,
  args: ({ context }) => {
    const args = context.args ?? [];
    const named = Object.fromEntries(args.map(({ name, value }) => [name, value ?? null]));
    return { ...named, names: args.map(({ name }) => name) };
  },
  guard: ({ context: { guard } }) => ({
    denied: guard?.denied ?? false,
    decision: guard?.decision ?? null,
    name: guard?.name ?? null,
    reason: guard?.reason ?? null,
    reasons: guard?.reasons ?? [],
    hints: (guard?.hints ?? []).map((hint) => ({ ...hint })),
    trace: traceValue(guard?.trace ?? []),
    filter: guard?.filter ?? null,
    timing: guard?.timing ?? null,
    try: guard?.try ?? 0,
    max: guard ? GUARD_TRIES : null,
    tries: (guard?.tries ?? []).map((tried) => ({ ...tried })),
    hintHistory: (guard?.tries ?? []).map(({ hint }) => hint),
  }),
  checkpoint: ({ context: { checkpoint } }) => ({ hit: checkpoint?.hit ?? false, key: checkpoint?.key ?? null }),
  hooks: ({ context, run }) => ({ errors: [...(context.hookErrors ?? run.hookErrors)] }),
  usage: ({ run }) => run.usage.view(),
  cost: ({ run }) => run.usage.costUsd,
  call: ({ attempt, context: { call } }) => (call ? seenCall(call) : { ...NO_CALL, ...inBody(attempt?.view) }),
  labels: (frame) => inputsOf(frame).reduce<readonly string[]>((all, input) => union(all, labelsOf(input)), NO_LABELS),
  taint: (frame) => {
    const inputs = inputsOf(frame);
    const labels = inputs.reduce<readonly string[]>((all, input) => union(all, labelsOf(input)), NO_LABELS);
    return inputs.reduce<readonly string[]>((all, input) => union(all, taintOf(input)), labels);
  },
};

/** The list carries the labels of the values in it. */
export function traceValue(trace: readonly GuardDecision[]): Value {
  const entries = trace.map((entry) => ({ ...entry, replacement: asElement(entry.replacement) ?? null }));
  return flow(annotate(entries, {}), trace.map(({ replacement }) => replacement)); // prettier-ignore
}

/** The members of `@mx.call`. calls.md 17.2. */
const NO_CALL = {
  try: 1,
  outcome: null,
  attempts: 0,
  class: null,
  problem: null,
  lane: null,
  model: null,
  usage: null,
  cost: null,
  session: null,
} satisfies DataObject;

function inBody(view: AttemptView | undefined): DataObject {
  if (!view) return {};
  const { try: tried, class: failureClass = null, problem = null, lane = null, model = null } = view;
  return { try: tried, attempts: tried, class: failureClass, problem, lane, model };
}

function seenCall({ view, isDenied }: CallSight): DataObject {
  const denied = isDenied ? { outcome: 'denied' } : {};
  if (!view) return { ...NO_CALL, ...denied };
  const { outcome = null, attempts, class: failureClass = null, problem = null, lane = null, model = null, measured } = view();
  const { usage = null, session = null } = measured ?? {};
  const cost = usage?.['costUsd'] ?? null;
  const tried = Math.max(1, attempts);
  return { try: tried, outcome, attempts, class: failureClass, problem, lane, model, usage, cost, session, ...denied };
}

const NO_FOR = { index: null, total: null, key: null, parallel: null, batchIndex: null, batchSize: null };

function inputsOf({ context }: Frame): readonly Value[] {
  return context.guard?.inputs ?? context.op?.inputs ?? [];
}

/** Returns one field of `@mx`, null for a name that it doesn't have; without a name, all fields. */
export function contextValue(name: string | undefined, frame: Frame): Value {
  if (name !== undefined) return Object.hasOwn(rows, name) ? (rows[name]?.(frame) ?? null) : null;
  return Object.fromEntries(Object.entries(rows).map(([key, row]) => [key, row(frame)])) as DataObject;
}
