/** Builds `@p.guards`: what the guards of a pipeline's stages decided so far. instrumentation.md 4.7. */
import type { GuardTrail } from '../../runtime/guard-trail.js';
import type { Operation } from '../../runtime/operation.js';
import { annotate, asElement, flow, type Value } from '../../values/value.js';
import { traceValue } from '../expressions/context-variables.js';

/** A stage, or an attempt of one, whose guards may have something to decide. */
export interface GuardedStage {
  readonly stage: number;
  readonly operation: Operation;
  readonly trail: GuardTrail;
}

/** Leaves out the stages that no guard was concerned with. The list carries the labels of the values in its traces. */
export function guardHistory(stages: readonly GuardedStage[]): Value {
  const looked = stages.filter(({ trail }) => trail.decision !== null);
  const traces = looked.map(({ trail }) => traceValue(trail.trace));
  const entries = looked.map(({ stage, operation: { kind, name, labels, subtype }, trail: { decision, reasons, hints } }, i) => ({
    stage,
    operation: { type: kind, name, labels, subtype: subtype ?? null },
    decision,
    reasons,
    hints: hints.map((hint) => ({ ...hint })),
    trace: asElement(traces[i]) ?? [],
  }));
  return flow(annotate(entries, {}), traces);
}
