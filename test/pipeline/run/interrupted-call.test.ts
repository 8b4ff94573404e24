/** Ctrl-C ends the call of a stage: it is interrupted, and neither crashed nor out of time, or has its reply by then. calls.md 18. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { JournalEvent } from '../../../journal/event.js';
import { causeOfCall } from '../../../replay/fold/calls/failure-class.js';
import { endingProgram } from '../../support/programs/ending-program.js';
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

it.each([
  ['keeps the reply of a model program that has it while the run is being ended', 'sleep 0.3; touch go', 'asked\n'],
  ['keeps nothing of one that does not end well', 'exit 3', 'asked\nasked\n'],
  ['keeps nothing of one that says that it was ended', 'say true; exit 0', 'asked\nasked\n'],
])('%s', { timeout: 60_000 }, async (_, ending, asked) => {
  const shop = workshop(pipeline('a [prompt="one"]; start -> a -> exit'));
  const bin = path.join(shop.folder, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(bin, 'claude'), endingProgram(ending), { mode: 0o755 });
  const own = { backend: 'claude', environment: { PATH: `${bin}:${process.env['PATH']}` } };
  const stopping = new AbortController();
  const events: JournalEvent[] = [];
  const begun = shop.begin({ ...own, signal: stopping.signal, onEvent: (event) => void events.push(event) });
  await expect.poll(() => existsSync(path.join(shop.folder, 'asked')), { timeout: 20_000 }).toBe(true);
  stopping.abort('SIGINT');
  const ended = await begun;
  expect(ended).toMatchObject({
    status: 'interrupted',
    calls: asked === 'asked\n' ? { executed: 1 } : { failedByClass: { interrupted: 1 } },
  });
  const ends = events.flatMap((event) => (event.type === 'op.finished' && event.outcome === 'failed' ? [event.message] : []));
  expect(new Set(ends)).toEqual(new Set(['interrupted: its stage was ended']));
  shop.write('go', '');
  const { report, checkpoint } = await shop.run({ ...own, resume: '' });
  expect(report.status).toBe('completed');
  expect(checkpoint.context['last_response']).toBe('late');
  expect(shop.read('asked')).toBe(asked);
  shop.remove();
});
