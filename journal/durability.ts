/** The durability that the journal promises for each type of fact. */
import type { FactType } from './event.js';

/**
 * `append` resolves only when the fact is `synced`: on disk (fdatasync); `written`: passed to the kernel, so that `kill -9` can't lose
 * it; `ordered`: queued, and passed to the kernel a few milliseconds later, never later than a written or synced event behind it.
 */
export type Durability = 'synced' | 'written' | 'ordered';
export const DURABILITY: { readonly [T in FactType]: Durability } = {
  'run.started': 'synced',
  'run.finished': 'synced',
  'source.loaded': 'ordered',
  'definition.recorded': 'ordered',
  'op.started': 'ordered',
  'op.finished': 'ordered',
  'call.offered': 'ordered',
  'call.started': 'written',
  'call.completed': 'synced',
  'call.superseded': 'synced',
  'call.withdrawn': 'ordered',
  'call.reused': 'ordered',
  'call.failed': 'written',
  'lane.changed': 'ordered',
  'dispatch.stopped': 'written',
  'dispatch.resumed': 'written',
  'result.received': 'synced',
  'result.rejected': 'synced',
  'result.restored': 'synced',
  'effect.performed': 'ordered',
  'process.started': 'written',
  'hook.fired': 'ordered',
  'guard.decided': 'ordered',
  'checkpoint.reached': 'synced',
  'checkpoint.closed': 'synced',
  'memo.invalidated': 'synced',
  'memo.reset': 'synced',
  'node.started': 'ordered',
  'node.finished': 'synced',
  'edge.selected': 'ordered',
  'context.updated': 'ordered',
  'gate.checked': 'ordered',
  'retry.scheduled': 'written',
  'question.asked': 'written',
  'question.answered': 'synced',
  'artifact.stored': 'ordered',
  'artifact.removed': 'written',
};

/**
 * While the disk takes nothing, `append` does not wait for facts of these types: nothing is paid for before an earlier line is durable,
 * so it is enough that these lines precede the next one that is waited for. The journal never delays a script that makes no calls.
 */
export const MAY_LAG: ReadonlySet<FactType> = new Set<FactType>([
  'run.started',
  'run.finished',
  'process.started',
  'checkpoint.reached',
  'checkpoint.closed',
  'memo.invalidated',
  'memo.reset',
]);

/** False for a type of a newer program, or a fact that another program appended: its meaning and its needs are unknown. */
export function isKnownType(type: string): type is FactType {
  return Object.hasOwn(DURABILITY, type);
}
