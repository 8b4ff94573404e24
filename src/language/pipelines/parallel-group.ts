/** Runs the members of a parallel group: `@f || @g`. control.md 20. */
import type { EffectStage, GroupStage, Stage } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { annotate, asElement, flow, type Value } from '../../values/value.js';
import { Signal, type Outcome } from '../../runtime/completion.js';
import { markerOf } from '../../runtime/calls/call-failure.js';
import { endsTheRun, locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import type { OpNode } from '../../runtime/op-node.js';
import { FailureWarnings } from '../loops/failure-warnings.js';
import { createPace, limitsOf, runPool } from '../loops/worker-pool.js';

type Member = Exclude<Stage, EffectStage>;

/** Returns the results in the written order; a failed member is a marker. All members receive `piped`, undefined in a leading group. */
export async function runGroup(
  group: GroupStage,
  piped: Value,
  frame: Frame,
  run: (member: Member, frame: Frame) => Promise<Outcome>,
): Promise<Value> {
  frame.context.errors.list = [];
  const place = frame.op.group();
  const { cap, paceMs } = await limitsOf(group.limits ?? {}, frame, group.at);
  const results: Value[] = [];
  const warnings = new FailureWarnings(frame.run.isVerbose);
  await runPool({
    from: 0,
    to: group.members.length,
    cap,
    pace: createPace(paceMs, frame),
    isDone: () => false,
    async start(index) {
      results[index] = await runMember({ group, op: place.at(index, 'g'), index, piped, frame, warnings }, run);
    },
  });
  warnings.report('parallel group', group.members.length, frame.run.warn);
  return flow(annotate(results.map(asElement), {}), results);
}

interface MemberPlace {
  readonly group: GroupStage;
  readonly op: OpNode;
  readonly index: number;
  readonly piped: Value;
  readonly frame: Frame;
  readonly warnings: FailureWarnings;
}

async function runMember(
  { group, op, index, piped, frame, warnings }: MemberPlace,
  run: (member: Member, frame: Frame) => Promise<Outcome>,
): Promise<Value> {
  const member = group.members[index] as Member;
  try {
    const outcome = await run(member, { ...frame, op, context: { ...frame.context, errors: { list: [] } } });
    if (outcome instanceof Signal && outcome.word === 'retry') {
      throw new MlldError('RETRY', '`retry` does not work in a parallel group', {
        location: locationOf(frame.module, member.at),
        hint: 'put the stage after the group: @f || @g | @check',
      });
    }
    return outcome instanceof Signal ? outcome.value : outcome;
  } catch (error) {
    if (endsTheRun(error) || (error as MlldError).code === 'RETRY') throw error;
    const marker = markerOf(error, { index, key: index, value: piped }, frame.run.failures);
    warnings.add(error, index, undefined);
    frame.context.errors.list = [...frame.context.errors.list, marker];
    return marker;
  }
}
