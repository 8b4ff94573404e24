/**
 * A run that a `loop_restart` edge started begins with the settings of its logical run, also after a resume in between. graph-pipelines.md
 * 6.8.
 */
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Handler } from '../../../src/pipeline/handlers/handler.js';
import { outcomeOf } from '../../../src/pipeline/model/outcome.js';
import { pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

const TEXT = pipeline('a [type=first]; b [type=second]; start -> a -> b; b -> a [label=again, loop_restart=true]; b -> exit [weight=1]');

let place: Workshop | undefined;
afterEach(() => place?.remove());

/** `first` fails a given number of times; `second` requests one restart and records its context. */
function handlers(failures: number): { readonly seen: unknown[]; readonly handlers: ReadonlyMap<string, Handler> } {
  const seen: unknown[] = [];
  let left = failures;
  const first: Handler = { handle: async () => outcomeOf(left-- > 0 ? 'fail' : 'success', { failure_reason: 'not yet' }) };
  const second: Handler = {
    handle: async ({ context }) => {
      seen.push([context['colour'], context['laps']]);
      return outcomeOf('success', { preferred_label: seen.length === 1 ? 'again' : '', context_updates: { laps: 1 } });
    },
  };
  return {
    seen,
    handlers: new Map([
      ['first', first],
      ['second', second],
    ]),
  };
}

it('starts with the initial settings and nothing that came later', async () => {
  place = workshop(TEXT);
  const { seen, handlers: own } = handlers(0);
  expect((await place.run({ handlers: own, set: { colour: 'red' } })).report.status).toBe('completed');
  expect(seen).toEqual([
    ['red', undefined],
    ['red', undefined],
  ]);
});

it('starts with the settings of the first run when a resume without settings restarts', async () => {
  place = workshop(TEXT);
  const { seen, handlers: own } = handlers(1);
  expect((await place.run({ handlers: own, set: { colour: 'red' } })).report.status).toBe('failed');
  expect((await place.run({ handlers: own, resume: '' })).report.status).toBe('completed');
  expect(seen).toEqual([
    ['red', undefined],
    ['red', undefined],
  ]);
});

it('begins with it when the command died between the two runs', async () => {
  place = workshop(TEXT);
  const { seen, handlers: own } = handlers(0);
  const ending = new AbortController();
  const onEvent = ({ type }: { type: string }): void => void (type === 'run.finished' && ending.abort());
  await place.run({ handlers: own, set: { colour: 'red' }, signal: ending.signal, onEvent });
  await place.run({ handlers: own, resume: '' });
  expect(seen).toEqual([
    ['red', undefined],
    ['red', undefined],
  ]);
});

it('says that a resumed run takes no other settings', async () => {
  place = workshop(TEXT);
  const { handlers: own } = handlers(1);
  await place.run({ handlers: own, set: { colour: 'red' } });
  const { stderr, report } = await place.run({ handlers: own, set: { colour: 'blue' }, resume: '' });
  expect(report.status).toBe('completed');
  expect(stderr).toContain('--set colour=blue has no effect');
});

it('numbers the folders of restarts on, whichever command began the run before', async () => {
  place = workshop(pipeline('a [type=third]; start -> a; a -> a [label=again, loop_restart=true]; a -> exit [weight=1]'));
  let visits = 0;
  /** Restarts twice, and fails in between. */
  const third: Handler = {
    handle: async () => {
      visits += 1;
      if (visits === 2) return outcomeOf('fail', { failure_reason: 'not yet' });
      return outcomeOf('success', { preferred_label: visits < 4 ? 'again' : '' });
    },
  };
  const own = new Map([['third', third]]);
  await place.run({ handlers: own, runDirectory: 'run' });
  const { events } = await place.run({ handlers: own, runDirectory: 'run', resume: '' });
  const folders = events.flatMap((event) => (event.type === 'run.started' ? [event.runDir] : []));
  expect(folders).toEqual(['run.2', 'run.3']);
});

it('continues in the folder of its chain, and says so', async () => {
  place = workshop(TEXT);
  const { handlers: own } = handlers(1);
  await place.run({ handlers: own, runDirectory: 'here' });
  const { stderr, events } = await place.run({ handlers: own, runDirectory: 'there', resume: '' });
  expect(events[0]).toMatchObject({ runDir: 'here' });
  expect(stderr).toContain('--run-dir there has no effect: a resumed run continues in here');
});

it('does not write into a folder that only its record takes for its own', async () => {
  place = workshop(TEXT);
  const { handlers: own } = handlers(3);
  await place.run({ handlers: own, runDirectory: 'here' });
  fs.renameSync(path.join(place.folder, 'here'), path.join(place.folder, 'elsewhere'));
  fs.mkdirSync(path.join(place.folder, 'here'));
  expect((await place.run({ handlers: own, resume: '' })).report).toMatchObject({ status: 'failed', error: { code: 'RESUME_FOLDER' } });
  expect(fs.readdirSync(path.join(place.folder, 'here'))).toEqual([]);
  const { events } = await place.run({ handlers: own, runDirectory: 'here', resume: '' });
  expect(events[0]).toMatchObject({ runDir: 'here' });
  // It has a manifest now.
  expect((await place.run({ handlers: own, resume: '' })).events[0]).toMatchObject({ runDir: 'here' });
});
