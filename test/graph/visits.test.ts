/** What is committed of a visit, and of one that is called off. Reference 6.2, 6.7. */
import { afterEach, expect, it } from 'vitest';
import type { Handler } from '../../src/graph/handlers/handler.js';
import { outcomeOf } from '../../src/graph/outcome.js';
import { pipeline, workshop, type Workshop } from '../support/pipeline-run.js';

let place: Workshop | undefined;
afterEach(() => place?.remove());

const handlers = (kinds: { readonly [type: string]: Handler['handle'] }): ReadonlyMap<string, Handler> =>
  new Map(Object.entries(kinds).map(([type, handle]) => [type, { handle }]));

it('goes on behind a skipped stage as the stage before it said', async () => {
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
