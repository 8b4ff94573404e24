/** A visit commits its outcome unless it is cancelled, and leaves the files of its node. graph-pipelines.md 6.2, 6.7, 11. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Handler } from '../../../src/pipeline/handlers/handler.js';
import { outcomeOf } from '../../../src/pipeline/model/outcome.js';
import { pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

let place: Workshop | undefined;
afterEach(() => place?.remove());

const handlers = (kinds: { readonly [type: string]: Handler['handle'] }): ReadonlyMap<string, Handler> =>
  new Map(Object.entries(kinds).map(([type, handle]) => [type, { handle }]));

it('continues after a skipped stage by the routing of the stage before it', async () => {
  place = workshop(
    pipeline(
      'a [type=say]; b [type=pass]; left [type=say]; right [type=say]; start -> a -> b; b -> left [label=Left]; b -> right [weight=9]; left -> exit; right -> exit',
    ),
  );
  const { checkpoint } = await place.run({
    handlers: handlers({ say: async () => outcomeOf('success', { preferred_label: 'Left' }), pass: async () => outcomeOf('skipped') }),
  });
  expect(checkpoint.node_history.map(({ node_id: id, outcome }) => `${id} ${outcome}`)).toEqual([
    'start success',
    'a success',
    'b skipped',
    'left success',
    'exit success',
  ]);
});

it('commits nothing of a branch that is called off', async () => {
  place = workshop(
    pipeline(
      'fan [shape=component, join_policy=first_success]; quick [type=quick]; slow [type=slow, max_retries=1, retry_delay="1ms"]; m [shape=tripleoctagon]; start -> fan; fan -> quick -> m; fan -> slow -> m; m -> exit',
    ),
  );
  const { report, events } = await place.run({
    handlers: handlers({
      quick: async () => outcomeOf('success'),
      slow: ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('called off')), { once: true })),
    }),
  });
  expect(report.status).toBe('completed');
  const ofSlow = events.filter((event) => 'node' in event && event.node === 'slow').map(({ type }) => type);
  expect(ofSlow).toEqual(['node.started']);
});

const LEAVES =
  'mkdir -p $MLLD_STAGE_DIR/part; echo x > $MLLD_STAGE_DIR/part/of-$MLLD_VISIT; echo x > $MLLD_STAGE_DIR/of-$MLLD_VISIT; echo $MLLD_VISIT';
const TWICE = pipeline(
  `a [shape=parallelogram, tool_command="${LEAVES}"]; fan [shape=component]; b [shape=parallelogram, tool_command="${LEAVES}"]; m [shape=tripleoctagon]
   c [type=more]; start -> a -> fan; fan -> b -> m; m -> c; c -> a [condition="context.laps=1"]; c -> exit [condition="context.laps=2"]`,
);
const laps = handlers({ more: async ({ visit }) => outcomeOf('success', { context_updates: { laps: visit + 1 } }) });

it('keeps no file of an earlier visit in the folder of a node', async () => {
  place = workshop(TWICE);
  const { report, checkpoint } = await place.run({ handlers: laps });
  const folder = report.runDirectory ?? '';
  expect(readdirSync(path.join(folder, 'a')).sort()).toEqual(['context.json', 'of-1', 'part', 'status.json', 'stderr.txt', 'stdout.txt']);
  expect(readdirSync(path.join(folder, 'a', 'part'))).toEqual(['of-1']);
  // In a branch every visit of the parallel node begins anew.
  expect(readdirSync(path.join(folder, 'branches', 'fan.b', 'b')).sort()).toEqual([
    'context.json',
    'of-0',
    'part',
    'status.json',
    'stderr.txt',
    'stdout.txt',
  ]);
  expect(checkpoint.outputs['a']).toEqual(['a/stdout.txt', 'a/stderr.txt', 'a/status.json']);
});

it('removes only its own files in a run folder that the user chose', async () => {
  place = workshop(TWICE);
  mkdirSync(path.join(place.folder, 'a'));
  writeFileSync(path.join(place.folder, 'a', 'notes.txt'), 'mine');
  await place.run({ handlers: laps, runDirectory: '.' });
  expect(existsSync(path.join(place.folder, 'a', 'notes.txt'))).toBe(true);
  expect(existsSync(path.join(place.folder, 'a', 'of-0'))).toBe(true);
});
