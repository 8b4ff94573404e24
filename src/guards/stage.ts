/**
 * Guards around one operation. Instrumentation 4.3 and 4.5.
 *
 * G1  All matching guards of a phase are evaluated, also behind a denial: every reason is known.
 * G2  `deny` beats `retry` beats `allow`; the first denial gives the reason.
 * G3  What they allow instead chains: the next guard sees the replaced value. Labels are never lost by it.
 */
import { arrayOf } from '../hooks/inputs.js';
import type { Frame, GuardWatch } from '../language/frame.js';
import { Denial } from '../operation/denial.js';
import { GuardRetry } from '../operation/guard-retry.js';
import type { Operation } from '../operation/operation.js';
import { addInputTests } from '../values/input-test.js';
import { flow, type Value } from '../values/value.js';
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
    /** Guards that are registered while the operation runs don't see it. */
    private readonly count: number,
  ) {}

  async before(frame: Frame, received: Operation): Promise<readonly Value[]> {
    let { inputs } = received;
    const refusals = new Refusals();
    for (const match of this.registry.matching('before', this.byOperation.before, received, this.count)) {
      const operation = { ...received, inputs };
      const { decision, value } = refusals.note(match, await decide(match, frame, { phase: 'before', operation, ...view(match, inputs) }));
      if (decision !== 'allow' || !value) continue;
      const place = match.index ?? 0;
      inputs = inputs.map((input, i) => (i === place ? flow(value.value, [input]) : input));
    }
    this.conclude(frame, 'before', { ...received, inputs }, refusals);
    return inputs;
  }

  async after(frame: Frame, allowed: Operation, result: Value): Promise<Value> {
    let output = result;
    const refusals = new Refusals();
    for (const match of this.registry.matching('after', this.byOperation.after, allowed, this.count)) {
      const about = { phase: 'after', operation: allowed, output, ...view(match, allowed.inputs) } as const;
      const { value } = refusals.note(match, await decide(match, frame, about));
      if (value) output = flow(value.value, [output]);
    }
    this.conclude(frame, 'after', allowed, refusals);
    return output;
  }

  /** G2. A retry that nothing can run again is a denial with the hint as its reason. */
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

  note(match: Match, verdict: Verdict): { readonly decision: Verdict['decision']; readonly value?: { readonly value: Value } } {
    if (verdict.decision === 'deny') this.denials.push({ match, reason: verdict.reason });
    if (verdict.decision === 'retry') this.retries.push({ match, reason: verdict.reason });
    return verdict;
  }
}

function view({ index }: Match, inputs: readonly Value[]): Pick<Case, 'input' | 'inputs'> {
  if (index === undefined) return { input: addInputTests(arrayOf(inputs), inputs), inputs };
  return { input: inputs[index] ?? null, inputs: [inputs[index]] };
}

async function decide({ guard }: Match, frame: Frame, about: Case): Promise<Verdict> {
  const verdict = await judge(guard, frame, about);
  const { recorder } = frame.run;
  if (recorder.on) {
    const { decision } = verdict;
    const filter = displayFilter(guard.filter);
    const reason = verdict.decision === 'allow' ? {} : { reason: verdict.reason };
    const transformed = verdict.decision === 'allow' && verdict.value !== undefined;
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
