/**
 * Runs the guards around one operation. instrumentation.md 4.3 and 4.5.
 *
 * GUARD-1  All matching guards of a phase are evaluated, also after a denial, so that every reason is known.
 * GUARD-2  `deny` beats `retry` beats `allow`; the first denial has the reason.
 * GUARD-3  Replaced values chain: the next guard sees the replaced value. It keeps the labels of the value that it replaces, unless a
 *          privileged guard removes them by name.
 */
import { arrayOf } from '../hooks/inputs.js';
import { Denial } from '../runtime/denial.js';
import type { Frame } from '../runtime/frame.js';
import { GuardRetry } from '../runtime/guard-retry.js';
import type { Operation } from '../runtime/operation.js';
import type { GuardWatch } from '../runtime/ports.js';
import { addInputTests } from '../values/methods/input-test.js';
import { flow, type Value } from '../values/value.js';
import { relabelled } from './allow-options.js';
import { displayFilter, type GuardRegistry, type Match, type Phase, type RegisteredGuard } from './registry.js';
import { judge, namedArguments, type Case, type Verdict } from './rules.js';

interface Refusal {
  readonly match: Match;
  readonly reason: string;
}

/** Undefined when no guard can concern the operation. */
export function watchOperation(registry: GuardRegistry, operation: Operation): GuardWatch | undefined {
  const matching = registry.watching(operation);
  return matching && new OperationGuards(registry, matching, registry.count);
}

class OperationGuards implements GuardWatch {
  denial: Denial | undefined;

  constructor(
    private readonly registry: GuardRegistry,
    private readonly byOperation: { readonly [P in Phase]: readonly RegisteredGuard[] },
    /** The number of guards at the start: those that are registered while the operation runs don't see it. */
    private readonly count: number,
  ) {}

  async before(frame: Frame, received: Operation): Promise<readonly Value[]> {
    let { inputs } = received;
    const refusals = new Refusals();
    for (const match of this.registry.matching('before', this.byOperation.before, received, this.count)) {
      const operation = { ...received, inputs };
      const verdict = refusals.add(match, await decide(match, frame, { phase: 'before', operation, ...view(match, inputs) }));
      const place = match.index ?? 0;
      if (changes(verdict)) inputs = inputs.map((input, i) => (i === place ? allowed(verdict, input) : input));
    }
    this.conclude(frame, 'before', { ...received, inputs }, refusals);
    return inputs;
  }

  async after(frame: Frame, received: Operation, result: Value): Promise<Value> {
    let output = result;
    const refusals = new Refusals();
    for (const match of this.registry.matching('after', this.byOperation.after, received, this.count)) {
      const about = { phase: 'after', operation: received, output, ...view(match, received.inputs) } as const;
      const verdict = refusals.add(match, await decide(match, frame, about));
      if (changes(verdict)) output = allowed(verdict, output);
    }
    this.conclude(frame, 'after', received, refusals);
    return output;
  }

  /** GUARD-2. A retry of an operation that can't run again is a denial with the hint as its reason. */
  private conclude(frame: Frame, timing: Phase, operation: Operation, { denials, retries }: Refusals): void {
    const [first] = denials;
    const [again] = retries;
    if (!first && !again) return;
    if (!first && again && operation.call?.repeatable) throw new GuardRetry(again.reason);
    const { match, reason } = (first ?? again) as Refusal;
    const { name, filter } = match.guard.node;
    this.denial = new Denial({
      guardName: name === undefined ? null : `@${name}`,
      guardFilter: displayFilter(filter),
      timing,
      reason,
      reasons: (first ? denials : retries).map((refusal) => refusal.reason),
      args: namedArguments(operation),
    });
    frame.run.denials.push(this.denial);
    throw this.denial;
  }
}

class Refusals {
  readonly denials: Refusal[] = [];
  readonly retries: Refusal[] = [];

  add(match: Match, verdict: Verdict): Verdict {
    if (verdict.decision === 'deny') this.denials.push({ match, reason: verdict.reason });
    if (verdict.decision === 'retry') this.retries.push({ match, reason: verdict.reason });
    return verdict;
  }
}

type Allowance = Extract<Verdict, { decision: 'allow' }>;

function changes(verdict: Verdict): verdict is Allowance {
  return verdict.decision === 'allow' && (verdict.value !== undefined || verdict.options !== undefined);
}

/** Returns the value that replaces another (GUARD-3). */
function allowed({ value, options }: Allowance, before: Value): Value {
  const replacement = value ? flow(value.value, [before]) : before;
  return options ? relabelled(replacement, options) : replacement;
}

function view({ index }: Match, inputs: readonly Value[]): Pick<Case, 'input' | 'inputs'> {
  if (index === undefined) return { input: addInputTests(arrayOf(inputs), inputs), inputs };
  return { input: inputs[index] ?? null, inputs: [inputs[index]] };
}

async function decide({ guard }: Match, frame: Frame, about: Case): Promise<Verdict> {
  const verdict = await judge(guard, frame, about);
  const { recorder, warn } = frame.run;
  if (verdict.decision === 'allow' && verdict.options?.warning !== undefined) warn(`[Guard Warning] ${verdict.options.warning}`);
  if (recorder.on) {
    const { decision } = verdict;
    const filter = displayFilter(guard.filter);
    const reason = verdict.decision === 'allow' ? {} : { reason: verdict.reason };
    const transformed = changes(verdict);
    recorder.post({
      type: 'guard.decided',
      op: frame.op.path,
      guard: guard.id,
      timing: about.phase,
      filter,
      decision,
      ...reason,
      transformed,
    });
  }
  return verdict;
}
