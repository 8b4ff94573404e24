/**
 * A hook that timed out in the recorded run times out again at the same point. Effects that it performs after that point were not recorded:
 * they are no divergence, but wait for good.
 */
import type { OpPath } from '../../../journal/ids.js';
import { isInside } from '../../../replay/fold/op-path.js';
import type { Recording } from '../../../replay/recording/recorded-world.js';
import type { Frame } from '../../runtime/frame.js';
import type { Firing } from '../../runtime/ports.js';
import type { ReplayOrder } from './replay-order.js';

export interface ReplayedHooks {
  /** Resolves with the recorded message when the hook is to time out; undefined if it did not time out. */
  timeOut(firing: Firing, body: Frame): Promise<string> | undefined;
  /** True for an operation in the body of such a hook. */
  isInside(op: OpPath): boolean;
}

export function createReplayedHooks(recording: Recording, order: ReplayOrder): ReplayedHooks {
  const bodies: OpPath[] = [];
  return {
    timeOut({ op, timing, hook }, body) {
      const timeout = recording.timeouts.get(`${op} ${timing} ${hook}`);
      if (!timeout) return undefined;
      bodies.push(body.op.path);
      return order.waitFor(timeout.seq, body).then(() => timeout.message);
    },
    isInside: (op) => bodies.some((body) => isInside(op, body)),
  };
}
