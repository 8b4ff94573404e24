/** Records runs of several people and workflows, for tests of what is shown of all runs of a project. */
import type { Fact } from '../../journal/event.js';
import { opPath, runIdAt, workflowOf, type RunRef } from '../../journal/ids.js';
import type { JournalStore } from '../../journal/store.js';
import { FINGERPRINT, key, started } from '../support/written-runs.js';

export interface SampleRun {
  readonly workflow: string;
  readonly atMs: number;
  readonly user?: string;
  readonly host?: string;
  /** The cost of its one call, of `@ask`. */
  readonly usd?: number;
  readonly status?: 'completed' | 'failed';
  /** It has no end, and its writer lives. */
  readonly isRunning?: true;
  /** It runs, and waits for an answer to this. */
  readonly asks?: string;
}

export interface RecordedSample {
  readonly ref: RunRef;
  /** Ends the run. */
  finish(): Promise<void>;
}

export async function recordSample(store: JournalStore, sample: SampleRun): Promise<RecordedSample> {
  const { workflow, atMs, user, host = 'laptop', usd = 0.25, status = 'completed', isRunning, asks } = sample;
  const ref: RunRef = { workflow: workflowOf(workflow), run: runIdAt(atMs, '0000') };
  const journal = await store.create(ref);
  const op = opPath('main/ask#0');
  const pipeline = workflow.endsWith('.dot') ? { pipeline: 'ferry' } : {};
  const beginning: readonly Fact[] = [
    { ...(started(ref) as Fact & { type: 'run.started' }), host, ...(user !== undefined && { user }), ...pipeline },
    { type: 'call.started', key: key('a'), op, fn: 'ask', fingerprint: FINGERPRINT, args: { inline: [] } },
    { type: 'call.completed', key: key('a'), op, result: { inline: 'done' }, elapsedMs: 20, usage: { costUsd: usd } },
  ];
  for (const fact of beginning) await journal.append(fact);
  if (asks !== undefined) {
    const options = [{ key: 'Y', label: '[Y] Yes', target: 'yes' }];
    await journal.append({
      type: 'question.asked',
      op: opPath('main/gate#0'),
      id: 'q1',
      node: 'gate',
      kind: 'yes_no',
      text: asks,
      options,
    });
  }
  const finish = async (): Promise<void> => {
    const totals = { executed: 1, reused: 0, failed: 0, attempts: 1, costUsd: usd, model: 'opus' };
    await journal.append({ type: 'run.finished', status, totals });
    await journal.close();
  };
  if (!isRunning && asks === undefined) await finish();
  return { ref, finish };
}
