/** Ctrl-C ends the call of a stage: it is interrupted, and neither crashed nor out of time. */
import { expect, it } from 'vitest';
import type { JournalEvent } from '../../../journal/event.js';
import { causeOfCall } from '../../../replay/fold/calls/failure-class.js';
import { pipeline, workshop } from '../../support/pipeline-run.js';

it('records that the call was interrupted', { timeout: 60_000 }, async () => {
  const shop = workshop(pipeline('a [prompt="one", backend="cmd:sleep 600"]; start -> a -> exit'));
  const collected: JournalEvent[] = [];
  const stopping = new AbortController();
  const { report } = await shop.run({
    signal: stopping.signal,
    onEvent: (event) => {
      collected.push(event);
      if (event.type === 'process.started') stopping.abort('SIGINT');
    },
  });
  expect(report.status).toBe('interrupted');
  const failed = collected.flatMap((event) => (event.type === 'call.failed' ? [event] : []));
  expect(failed.map((event) => [event.message, causeOfCall(event)])).toEqual([['interrupted: its stage was ended', 'interrupted']]);
  shop.remove();
});
