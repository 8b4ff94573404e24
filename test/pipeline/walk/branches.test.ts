/** A branch must not return to a parallel node that it is within. graph-pipelines.md 7.5. */
import { afterEach, expect, it } from 'vitest';
import type { Backend } from '../../../src/pipeline/stage/backend.js';
import { finishedNodes, pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

let place: Workshop | undefined;
afterEach(() => place?.remove());

it.each(['inner', 'outer'])('fails a branch of a nested node that returns to the %s one', async (target) => {
  place = workshop(
    pipeline(
      `outer [shape=component]; a; inner [shape=component]; b; c; m [shape=tripleoctagon]
       start -> outer; outer -> a -> m; outer -> inner; inner -> b -> ${target}; inner -> c -> m; m -> exit`,
    ),
  );
  const { report, events, checkpoint } = await place.run();
  expect(report.status).toBe('completed');
  expect(finishedNodes(events).filter((line) => line.startsWith('b'))).toEqual(['b:success']);
  const [, nested] = checkpoint.node_history[1]?.branches ?? [];
  expect(nested?.node_history[0]?.branches).toMatchObject([
    { id: 'b', outcome: 'fail' },
    { id: 'c', outcome: 'success' },
  ]);
  expect(JSON.stringify(events)).toContain(`the branch b returned to ${target}, the parallel node`);
});

it('accepts the failure of a call that it calls off because it is decided', async () => {
  place = workshop(
    pipeline(
      `fork [shape=component, join_policy=first_success]; a [prompt="p"]; b [prompt="p"]; m [shape=tripleoctagon]
       start -> fork; fork -> a -> m; fork -> b -> m; m -> exit`,
    ),
  );
  const execute: Backend['execute'] = async ({ node, signal }) => {
    if (node.id === 'b') await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    return { reply: 'done' };
  };
  const backends = new Map([['own', () => ({ name: 'own:', execute })]]);
  const { report } = await place.run({ backend: 'own:', backends });
  expect(report).toMatchObject({ status: 'completed', calls: { executed: 1, failed: 1, accepted: 1, unresolved: 0 } });
});
