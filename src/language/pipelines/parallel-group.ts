/** Runs the members of a parallel group: `@f || @g`. control.md 20. */
import type { EffectStage, GroupStage, Stage } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { errorMarker } from '../../values/kinds/marker.js';
import { annotate, asElement, flow, type Value } from '../../values/value.js';
import { Signal, type Outcome } from '../../runtime/completion.js';
import { endsTheRun, locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
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
  const { cap, paceMs } = await limitsOf(group.limits ?? {}, frame, group.at);
  const results: Value[] = [];
  await runPool({
    from: 0,
    to: group.members.length,
    cap,
    pace: createPace(paceMs, frame),
    isDone: () => false,
    async start(index) {
      results[index] = await runMember(group, index, piped, frame, run);
    },
  });
  return flow(annotate(results.map(asElement), {}), results);
}

async function runMember(
  group: GroupStage,
  index: number,
  piped: Value,
  frame: Frame,
  run: (member: Member, frame: Frame) => Promise<Outcome>,
): Promise<Value> {
  const member = group.members[index] as Member;
  const op = frame.op.at(index, 'g');
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
    const marker = errorMarker({ index, key: String(index), message: (error as Error).message, value: asElement(piped) ?? null });
    frame.context.errors.list = [...frame.context.errors.list, marker];
    return marker;
  }
}
