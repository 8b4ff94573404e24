/**
 * Runs the guards around one operation. instrumentation.md 4.3 and 4.5.
 *
 * GUARD-1  All matching guards of a phase are evaluated, also after a denial, so that every reason is known.
 * GUARD-2  `deny` beats `retry` beats `allow`; the first denial has the reason.
 * GUARD-3  Replaced values chain: the next guard sees the replaced value. It keeps the labels of the value that it replaces, unless a
 *          privileged guard removes them by name.
 * GUARD-4  A value in a path is not replaced: a guard that would put another text in its place denies.
 * GUARD-5  An operation is executed at most three times for `retry`; the third one is a denial.
 */
import { arrayOf } from '../hooks/inputs.js';
import { Denial } from '../runtime/denial.js';
import type { Frame } from '../runtime/frame.js';
import { GuardRetry } from '../runtime/guard-retry.js';
import type { Operation } from '../runtime/operation.js';
import { GUARD_TRIES, GuardTrail, type GuardTry } from '../runtime/guard-trail.js';
import type { GuardWatch } from '../runtime/ports.js';
import { addInputTests } from '../values/methods/input-test.js';
import { textOf } from '../values/text.js';
import { flow, guardSource, NO_LABELS, type Value } from '../values/value.js';
import { relabelled } from './allow-options.js';
import { pieceAt, textOfPieces, withPiece } from './pieces.js';
import { displayFilter, type GuardRegistry, type Match, type Phase, type RegisteredGuard } from './registry.js';
import { judge, namedArguments, type Case, type Verdict } from './rules.js';

interface Refusal {
  readonly match: Match;
  readonly reason: string;
}

/** Undefined when no guard can concern the operation. */
export function watchOperation(registry: GuardRegistry, operation: Operation): GuardWatch | undefined {
  const matching = registry.watching(operation);
  return matching && new OperationGuards(registry, operation, matching, registry.count);
}

/** The inputs of an operation, as the guards so far left them. */
type Current = Pick<Operation, 'inputs' | 'pieces' | 'path'>;

class OperationGuards implements GuardWatch {
  denial: Denial | undefined;
  private readonly trail: GuardTrail;
  /** The executions of the operation itself before this one. */
  private readonly tries: readonly GuardTry[];

  constructor(
    private readonly registry: GuardRegistry,
    operation: Operation,
    private readonly byOperation: { readonly [P in Phase]: readonly RegisteredGuard[] },
    /** The number of guards at the start: those that are registered while the operation runs don't see it. */
    private readonly count: number,
  ) {
    this.trail = operation.trail ?? new GuardTrail();
    this.tries = operation.repeat?.tries ?? [];
  }

  judges(received: Operation): boolean {
    return this.registry.matching('after', this.byOperation.after, received, this.count).length > 0;
  }

  async before(frame: Frame, received: Operation): Promise<readonly Value[]> {
    let current: Current = received;
    const refusals = new Refusals();
    for (const match of this.registry.matching('before', this.byOperation.before, received, this.count)) {
      const operation = { ...received, ...current };
      const { input, involved, first } = objectOf(match, operation);
      const output = (): Value => flow(textOf(first), [first]);
      const about = { phase: 'before', operation, output, input, involved } as const;
      const verdict = refusals.add(match, await this.decide(match, frame, about, first));
      if (!changes(verdict) || match.path !== undefined) continue;
      received.trail?.addReplacing(match.guard.number, 'before');
      current = replacedIn(current, match, allowed(verdict, match, first));
    }
    this.conclude(frame, 'before', { ...received, ...current }, refusals);
    return current.inputs;
  }

  async after(frame: Frame, received: Operation, result: Value): Promise<Value> {
    let output = result;
    let { pieces } = received;
    const refusals = new Refusals();
    for (const match of this.registry.matching('after', this.byOperation.after, received, this.count)) {
      const { input, involved, first } = objectOf(match, { ...received, pieces });
      const current = match.piece === undefined && match.path === undefined ? output : first;
      const about = { phase: 'after', operation: received, output: () => current, input, involved: [...involved, current] } as const;
      const verdict = refusals.add(match, await this.decide(match, frame, about, current));
      if (!changes(verdict) || match.path !== undefined) continue;
      received.trail?.addReplacing(match.guard.number, 'after');
      if (match.piece === undefined) output = allowed(verdict, match, output);
      else if (pieces) {
        pieces = withPiece(pieces, match.piece, allowed(verdict, match, first));
        output = textOfPieces(pieces);
      }
    }
    this.conclude(frame, 'after', received, refusals);
    return output;
  }

  /** GUARD-2. A retry of an operation that can't run again is a denial with the hint as its reason. */
  private conclude(frame: Frame, timing: Phase, operation: Operation, { denials, retries }: Refusals): void {
    const [first] = denials;
    const [again] = retries;
    if (!first && !again) return;
    const isRepeatable = timing === 'before' ? operation.call?.repeatable : operation.call !== undefined || operation.kind === 'var';
    const tries = timing === 'before' ? (frame.guardTries ?? []) : this.tries;
    const isLast = !first && isRepeatable === true && tries.length + 1 >= GUARD_TRIES; // GUARD-5
    if (!first && again && isRepeatable && !isLast) throw new GuardRetry(timing, again.reason);
    const { match, reason } = (first ?? again) as Refusal;
    const { name, filter } = match.guard.node;
    const limit = (hint: string): string => (isLast ? `retry limit of ${GUARD_TRIES} attempts reached: ${hint}` : hint);
    const { trace, hints } = this.trail;
    this.denial = new Denial({
      guardName: name === undefined ? null : `@${name}`,
      guardFilter: displayFilter(filter),
      timing,
      decision: first || isLast ? 'deny' : 'retry',
      reason: limit(reason),
      reasons: (first ? denials : retries).map((refusal) => limit(refusal.reason)),
      tries,
      hints,
      trace,
      args: namedArguments(operation),
    });
    frame.run.denials.push(this.denial);
    throw this.denial;
  }

  /** `before` is the value that a replacement takes the place of. */
  private async decide(match: Match, frame: Frame, about: Omit<Case, 'trail' | 'tries'>, before: Value): Promise<Verdict> {
    const { guard } = match;
    const { phase: timing } = about;
    const tries = this.tries.length > 0 ? this.tries : (frame.guardTries ?? []);
    const verdict = keepingPath(match, before, await judge(guard, frame, { ...about, trail: this.trail, tries }));
    const { recorder, warn } = frame.run;
    if (verdict.decision === 'allow' && verdict.options?.warning !== undefined)
      warn(`[Guard Warning] ${verdict.options.warning}`, `guard ${guard.number}`);
    const { decision } = verdict;
    const filter = displayFilter(guard.filter);
    const text = verdict.decision === 'allow' ? null : verdict.reason;
    const transformed = changes(verdict);
    this.trail.add({
      guardName: guard.node.name ?? null,
      guardFilter: filter,
      timing,
      decision,
      reason: decision === 'deny' ? text : null,
      hint: decision === 'retry' ? text : null,
      replacement: transformed ? allowed(verdict, match, before) : null,
    });
    if (recorder.on) {
      const reason = text === null ? {} : { reason: text };
      recorder.post({ type: 'guard.decided', op: frame.op.path, guard: guard.id, timing, filter, decision, ...reason, transformed });
    }
    return verdict;
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

/** GUARD-4 */
function keepingPath({ path }: Match, before: Value, verdict: Verdict): Verdict {
  if (path === undefined || verdict.decision !== 'allow' || !verdict.value) return verdict;
  if (textOf(verdict.value.value) === textOf(before)) return verdict;
  return { decision: 'deny', reason: 'a value in a path can only be allowed as it is, or denied: the guard replaces it' };
}

function changes(verdict: Verdict): verdict is Allowance {
  return verdict.decision === 'allow' && (verdict.value !== undefined || verdict.options !== undefined);
}

/** Returns the value that replaces another (GUARD-3). */
function allowed({ value, options }: Allowance, { guard: { node } }: Match, before: Value): Value {
  const source = node.name === undefined ? NO_LABELS : [guardSource(node.name)];
  const replacement = value ? flow(value.value, [before], NO_LABELS, source) : before;
  return options ? relabelled(replacement, options) : replacement;
}

/** Returns what the guard looks at; `first` is the value that `allow VALUE` replaces before the operation. */
function objectOf(
  { index, piece, path }: Match,
  { inputs, pieces, path: inPath = [] }: Current,
): Pick<Case, 'input' | 'involved'> & { readonly first: Value } {
  if (path !== undefined) return { input: inPath[path] ?? null, involved: [inPath[path]], first: inPath[path] };
  if (index === undefined) return { input: addInputTests(arrayOf(inputs), inputs), involved: inputs, first: inputs[0] };
  const value = piece === undefined ? inputs[index] : pieceAt(pieces, piece);
  return { input: value ?? null, involved: [value], first: value };
}

/** Puts a value in the place of the one that the guard looked at. A text that is replaced as a whole has no pieces any more. */
function replacedIn({ inputs, pieces }: Current, { index, piece }: Match, replacement: Value): Current {
  if (piece !== undefined && pieces) {
    const left = withPiece(pieces, piece, replacement);
    return { inputs: [textOfPieces(left)], pieces: left };
  }
  return { inputs: inputs.map((input, i) => (i === (index ?? 0) ? replacement : input)), pieces: undefined };
}
