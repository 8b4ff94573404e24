/**
 * A pipeline that dies at any event and is resumed ends as an undisturbed one would. The journal takes the n-th event and nothing behind
 * it, for n = 1, 2, 3, … until the run gets through.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { Fact, JournalEvent } from '../../../journal/event.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import type { Journal, JournalStore } from '../../../journal/store.js';
import type { Handler } from '../../../src/pipeline/handlers/handler.js';
import { outcomeOf, StageError } from '../../../src/pipeline/model/outcome.js';
import { finishedNodes, pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

/** Dies at its n-th event: later ones are neither recorded nor acknowledged. */
function dyingStore(store: JournalStore, last: number): { readonly store: JournalStore; readonly died: Promise<void> } {
  let die = (): void => undefined;
  const died = new Promise<void>((resolve) => (die = resolve));
  let left = last;
  const dying = (journal: Journal): Journal => {
    const take = (): boolean => {
      left -= 1;
      if (left === 0) setImmediate(() => void journal.close().then(die));
      return left >= 0;
    };
    const nowhere = { seq: 0, position: { offset: 0, bytes: 0 } } as ReturnType<Journal['post']>;
    return {
      ref: journal.ref,
      post: (fact: Fact) => (take() ? journal.post(fact) : nowhere),
      append: (...args) => (take() ? journal.append(...args) : new Promise(() => undefined)),
      appendOwn: (...args) => journal.appendOwn(...args),
      flush: () => journal.flush(),
      close: () => journal.close(),
    };
  };
  return {
    died,
    store: Object.create(store, {
      create: { value: async (ref: Parameters<JournalStore['create']>[0]) => dying(await store.create(ref)) },
    }) as JournalStore,
  };
}

const fast = 'retry_delay="1ms", retry_jitter=false';
const GRAPHS = {
  'a loop with a gate': pipeline(
    `plan [prompt="Plan"]; work [type=work, max_retries=2, ${fast}]; check [type=check, goal_gate=true, retry_target=plan]
     start -> plan -> work -> check; check -> exit [condition="outcome=fail"]; check -> exit`,
  ),
  'branches and a person': pipeline(
    `fan [shape=component]; a1 [type=work]; a2 [prompt="a2"]; b1 [type=work]; meet [shape=tripleoctagon]; ask [shape=hexagon]; look [shape=diamond]
     start -> fan; fan -> a1 -> a2 -> meet; fan -> b1 -> meet; meet -> ask; ask -> look [label="Go"]; ask -> exit [label="No"]; look -> exit`,
  ),
};

/** Counts executions by visit and attempt: `work#0.1`. */
function countingHandlers(runs: Map<string, number>): ReadonlyMap<string, Handler> {
  const count = (handle: Handler['handle']): Handler => ({
    handle: async (stage) => {
      const id = `${stage.node.id}#${stage.visit}.${stage.attempt}`;
      runs.set(id, (runs.get(id) ?? 0) + 1);
      return handle(stage);
    },
  });
  return new Map([
    [
      'work',
      count(async ({ attempt, visit, node }) => {
        if (attempt === 1 && node.id === 'work') throw new StageError('transient', 'the first attempt breaks');
        return outcomeOf('success', { context_updates: { [`${node.id}.laps`]: visit + 1 } });
      }),
    ],
    ['check', count(async ({ visit }) => outcomeOf(visit === 0 ? 'fail' : 'success', { failure_reason: visit === 0 ? 'not yet' : '' }))],
  ]);
}

let place: Workshop | undefined;
afterEach(() => place?.remove());

describe.each(Object.entries(GRAPHS))('%s', (_, text) => {
  it('ends the same wherever it dies', { timeout: 120_000 }, async () => {
    place = workshop(text);
    const undisturbed = await place.run({ handlers: countingHandlers(new Map()) });
    expect(undisturbed.report.status).toBe('completed');
    place.remove();
    const total = undisturbed.events.length;
    for (let last = 1; last < total; last++) {
      const memory = openMemoryStore();
      const { store, died } = dyingStore(memory, last);
      place = workshop(text, memory);
      const runs = new Map<string, number>();
      const before: JournalEvent[] = [];
      const killed = place.begin({
        openStore: async () => store,
        handlers: countingHandlers(runs),
        onEvent: (event) => void before.push(event),
      });
      killed.catch(() => undefined);
      await died;
      const kept = before.slice(0, last);
      const resumed = await place.run({ resume: '', handlers: countingHandlers(runs) });
      expect(resumed.report.status, `died at event ${last}: ${resumed.stderr}`).toBe('completed');
      const { context, node_history: history, goal_gate_status: gates } = resumed.checkpoint;
      expect({ context, history, gates }, `died at event ${last}`).toEqual({
        context: undisturbed.checkpoint.context,
        history: undisturbed.checkpoint.node_history,
        gates: undisturbed.checkpoint.goal_gate_status,
      });
      // No finished node runs again, no durable reply is paid for again, and no question is put again.
      const again = finishedNodes(kept).length + finishedNodes(resumed.events).length;
      expect(again, `died at event ${last}`).toBe(finishedNodes(undisturbed.events).length);
      const answered = new Set(
        kept.flatMap((event) => (event.type === 'call.completed' || event.type === 'question.answered' ? [event.op] : [])),
      );
      const asked = resumed.events.filter(
        (event) => (event.type === 'call.started' || event.type === 'question.asked') && answered.has(event.op),
      );
      expect(asked, `died at event ${last}`).toEqual([]);
      // An attempt whose retry is recorded is not made again: retries that were used up stay used up.
      const ended = kept.flatMap((event) => (event.type === 'retry.scheduled' ? [`${event.node}#${event.visit}.${event.attempt}`] : []));
      expect(
        ended.filter((attempt) => runs.get(attempt) !== 1),
        `died at event ${last}`,
      ).toEqual([]);
      place.remove();
    }
  });
});
