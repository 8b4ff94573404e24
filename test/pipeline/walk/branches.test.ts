/** A branch must not return to a parallel node that it is within. graph-pipelines.md 7.5. */
import { chmodSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Json } from '../../../journal/event.js';
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

it('keeps the files of branches apart where two branches share a parallel node', async () => {
  place = workshop(
    pipeline(
      `fan [shape=component]; a [shape=parallelogram, tool_command="./who"]; b [shape=parallelogram, tool_command="./who"]
       inner [shape=component]; x [shape=parallelogram, tool_command="./tell"]; both [shape=tripleoctagon]; m [shape=tripleoctagon]
       start -> fan; fan -> a -> inner; fan -> b -> inner; inner -> x -> both; both -> m; m -> exit`,
    ),
  );
  const command = (name: string, lines: string): void => {
    place?.write(name, `#!/bin/sh\n${lines}`);
    chmodSync(path.join(place?.folder ?? '', name), 0o755);
  };
  command('who', `echo '{"outcome":"success","context_updates":{"who":"'$MLLD_NODE_ID'"}}' > $MLLD_STATUS_FILE`);
  // Each command waits until the other one runs, too.
  command(
    'tell',
    `touch began-$$; until test $(ls began-* | wc -l) = 2; do sleep 0.02; done
     who=$(sed -n 's/.*"who": *"\\([ab]\\)".*/\\1/p' $MLLD_CONTEXT_FILE)
     echo '{"outcome":"success","context_updates":{"told":"'$who'"}}' > $MLLD_STATUS_FILE
     touch told-$$; until test $(ls told-* | wc -l) = 2; do sleep 0.02; done`,
  );
  const { checkpoint } = await place.run({ runDirectory: 'run' });
  const results = checkpoint.context['parallel.results'] as readonly { readonly context_updates: Json }[];
  expect(results.map(({ context_updates: updates }) => updates)).toMatchObject(
    ['a', 'b'].map((who) => ({ who, 'parallel.results': [{ context_updates: { told: who } }] })),
  );
  for (const id of ['a', 'b'])
    expect(JSON.parse(place.read(`run/branches/fan.${id}/inner.x/x/status.json`))).toMatchObject({ context_updates: { told: id } });
});

it('tells a stage of the replies in its own branch, where another one has a reply of the same stage', async () => {
  place = workshop(
    pipeline(
      `fan [shape=component]; a [shape=diamond]; b [shape=diamond]; say [prompt="s"]; t [shape=parallelogram, tool_command="sleep 0.2"]
       after [prompt="t", fidelity="summary:high"]; m [shape=tripleoctagon]
       start -> fan; fan -> a -> say; fan -> b -> say; say -> t -> after; after -> m; m -> exit`,
    ),
  );
  const told = new Map<string | undefined, string>();
  const execute: Backend['execute'] = async ({ node, branch }, _frame, { text }) => {
    if (node.id === 'after') told.set(branch?.id, text);
    return { reply: `${node.id} in ${branch?.id}` };
  };
  await place.run({ backend: 'own:', backends: new Map([['own', () => ({ name: 'own:', execute })]]) });
  for (const id of ['a', 'b']) expect(told.get(id)).toContain(`- say: success: say in ${id}\n`);
});
