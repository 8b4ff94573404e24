/**
 * Hooks whose time was over in the recorded run. They run again as far as they came then, and are out of time where they were: what they
 * ask beyond that nobody had asked, so it is no divergence. It waits.
 */
import type { OpPath } from '../../../journal/ids.js';
import { isInside } from '../../../replay/fold/op-path.js';
import type { Recording } from '../../../replay/recording/recorded-world.js';
import type { Frame } from '../../runtime/frame.js';
import type { Firing } from '../../runtime/ports.js';
import type { ReplayOrder } from './replay-order.js';

export interface ReplayedHooks {
  /** See `RunState.replayed`. */
  timeOut(firing: Firing, body: Frame): Promise<string> | undefined;
  /** The operation is in the body of one of these. */
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
