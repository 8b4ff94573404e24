/** An edit of the tools of a model stage is told where a reply from before it is reused. graph-pipelines.md 7.3. */
import { afterEach, expect, it } from 'vitest';
import type { Backends } from '../../../src/pipeline/stage/backend.js';
import { pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

let place: Workshop | undefined;
afterEach(() => place?.remove());

const backends: Backends = new Map([['told', () => ({ name: 'told:', execute: async () => ({ reply: 'charted' }) })]]);

it.each([
  ['edited', 'tools="Read"', 'tools="Read, Bash(ls:*)"', '@tools was Read, is Read, Bash(ls:*)'],
  ['added', '', 'tools="Read"', 'it uses @tools now'],
  ['removed at a node', 'tools="Read"', 'tools="Read" a [tools=""]', 'it does not use @tools any more'],
  ['written otherwise', 'tools="Read,Grep"', 'tools=" Read, Grep,"', undefined],
])('says so where they were %s, and reuses the reply', async (_, before, after, told) => {
  const body = 'a [prompt="Chart the bay"]; start -> a -> exit';
  place = workshop(pipeline(body, `backend="told:" ${before}`));
  await place.run({ backends, checkpoint: true });
  place.write('p.dot', pipeline(body, `backend="told:" ${after}`));
  const { events, stderr } = await place.run({ backends, checkpoint: true });
  expect(events.some(({ type }) => type === 'call.reused')).toBe(true);
  if (told === undefined) expect(stderr).not.toContain('edited');
  else expect(stderr).toContain(told);
});
