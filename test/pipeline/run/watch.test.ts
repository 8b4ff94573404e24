/** Observers of a run. graph-pipelines.md 11. */
import { afterEach, expect, it } from 'vitest';
import { watchPipeline, type PipelineNotice } from '../../../src/api/index.js';
import { pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

let place: Workshop | undefined;
afterEach(() => place?.remove());

it('get every event in order, notices of the checkpoint, and an end', async () => {
  place = workshop(pipeline('a; b; start -> a -> b -> exit'));
  const { events: notices, report } = watchPipeline(place.options());
  const seen: PipelineNotice[] = [];
  for await (const notice of notices) {
    seen.push(notice);
    if (seen.length % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 1)); // slower than the run
  }
  expect((await report).status).toBe('completed');
  const events = seen.flatMap((notice) => (notice.type === 'checkpoint.saved' ? [] : [notice]));
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i));
  expect([events[0]?.type, events.at(-1)?.type]).toEqual(['run.started', 'run.finished']);
  expect(seen.length).toBeGreaterThan(events.length);
});

it('may leave, and the run continues', async () => {
  place = workshop(pipeline('a; start -> a -> exit'));
  const { events: notices, report } = watchPipeline(place.options());
  for await (const { type } of notices) if (type === 'node.started') break;
  expect((await report).status).toBe('completed');
  expect(await notices.next()).toEqual({ done: true, value: undefined });
});

it('see the end of a run that was refused', async () => {
  place = workshop('digraph g {');
  const { events: notices, report } = watchPipeline(place.options());
  expect(await notices.next()).toMatchObject({ done: true });
  expect((await report).status).toBe('failed');
});
