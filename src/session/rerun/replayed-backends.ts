/** Replaces backends of the program that ran a pipeline by their recorded replies. Built-in backends are replayed by their effects. */
import { isInside } from '../../../replay/fold/op-path.js';
import { resolveResult } from '../../../replay/fold/recorded-result.js';
import type { Recording } from '../../../replay/recording/recorded-world.js';
import type { RecordedWalk } from '../../../replay/recording/recorded-walk.js';
import type { JournalStore } from '../../../journal/store.js';
import type { OpPath } from '../../../journal/ids.js';
import { replyIn } from '../../pipeline/backends/call-model.js';
import { isBuiltInBackend, backendKind } from '../../pipeline/backends/select-backend.js';
import type { Backend, Backends } from '../../pipeline/stage/backend.js';
import { StageError } from '../../pipeline/model/outcome.js';
import { decodeValue } from '../../operation/encode-result.js';
import type { Divergence } from './divergence.js';
import { aborted, type ReplayOrder } from './replay-order.js';
import { endOfReplay } from './replayed-world.js';

interface Ports {
  readonly store: JournalStore;
  readonly walk: RecordedWalk;
  readonly recording: Recording;
  readonly order: ReplayOrder;
  readonly diverge: (divergence: Divergence) => boolean;
  /** Called when code waits for something that the record does not have. */
  readonly stuck: () => void;
}

export interface ReplayedBackends {
  readonly backends: Backends;
  /** True for an operation inside such a call: a tool that the model used. */
  isInside(op: OpPath): boolean;
}

export function createReplayedBackends(ports: Ports): ReplayedBackends {
  const calls = new Set<OpPath>();
  const kinds = [...ports.walk.backends].map(backendKind).filter((kind) => !isBuiltInBackend(kind));
  return {
    backends: new Map(kinds.map((kind) => [kind, (rest: string) => replayedBackend(ports, rest === '' ? kind : `${kind}:${rest}`, calls)])),
    isInside: (op) => [...calls].some((call) => isInside(op, call)),
  };
}

function replayedBackend({ store, walk, recording, order, diverge, stuck }: Ports, name: string, calls: Set<OpPath>): Backend {
  return {
    name,
    async execute(stage, frame) {
      const { path: op } = frame.op;
      calls.add(op);
      const call = recording.calls.get(op);
      if (call?.completed) {
        await order.waitFor(call.completed.seq);
        const release = order.hold();
        const { ref, position } = call.completed.place;
        const event = await store.readAt(ref, position);
        const result = event?.type === 'call.completed' ? await resolveResult(store, event) : undefined;
        release();
        if (result !== undefined) return replyIn(decodeValue(result, stage.frame.run.settings.projectRoot));
        diverge({ reason: 'unreadable', op, kind: 'call', expected: { seq: call.completed.seq, subject: `@${call.fn}` } });
        throw endOfReplay();
      }
      const end = walk.ends.get(stage.frame.op.path);
      if (!end) {
        stuck();
        await aborted(stage.signal);
        throw new StageError('transient', 'the stage was cut off');
      }
      // Not in the order of the record: the end of the call is, and takes from here whether another attempt may help.
      if (end.type === 'retry.scheduled') throw new StageError('transient', end.reason);
      throw new StageError('permanent', end.outcome.failure_reason, end.outcome.context_updates);
    },
  };
}
