/** A branch must not return to a parallel node that it is within. graph-pipelines.md 7.5. */
import { afterEach, expect, it } from 'vitest';
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
