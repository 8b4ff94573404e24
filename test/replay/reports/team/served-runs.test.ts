/** Post-mortems of runs that hold calls of another run: what they are, and that the other run is the one to resume. */
import { expect, it } from 'vitest';
import type { Fact } from '../../../../journal/event.js';
import { openMemoryStore } from '../../../../journal/storage/memory-store.js';
import type { RunFile } from '../../../../journal/store.js';
import { postMortemOf } from '../../../../replay/reports/postmortem/postmortem-run.js';
import { renderPostMortem } from '../../../../cli/render/reports/postmortem.js';
import { styleFor } from '../../../../cli/render/style.js';
import { call, finished, JOB, runRef, started } from '../../../support/written-runs.js';

const OFFERING = runRef(1).run;
const WHOLE = [started(runRef(1)), ...call('main/ask#0', 'ebb'), { ...finished(), totals: { executed: 1, reused: 0, failed: 0 } } as Fact];

/** Reports the second run of two; `about` is what the store knows of it besides. */
async function reported(facts: readonly Fact[], about: Partial<RunFile> = {}) {
  const store = openMemoryStore();
  for (const [number, recorded] of [WHOLE, facts].entries()) {
    const journal = await store.create(runRef(number + 1));
    for (const fact of recorded) await journal.append(fact);
    await journal.close();
  }
  const file = { ...(await store.runs(JOB))[1], ...about } as RunFile;
  const report = await postMortemOf(store, file, { nowMs: 0, onDefect: () => undefined });
  return { report, text: renderPostMortem(report, styleFor(false)).replaceAll(/\s+/g, ' ') };
}

it.each([
  [
    'a worker that was killed before its first event',
    [],
    { isWorker: true as const, madeFor: { for: OFFERING, name: 'hut' } },
    { as: 'worker', run: OFFERING, worker: 'hut' },
    ['A run of the worker hut crashed', `made for calls of run ${OFFERING}, and the worker ended before it began one`],
  ],
  [
    'a worker that was killed before its first event, and whose run is gone',
    [],
    { isWorker: true as const },
    { as: 'worker' },
    ['A run of a worker crashed', 'made for calls of a run that was removed'],
  ],
  [
    'a worker that was killed in a call',
    [
      { ...started(runRef(2)), worker: { for: OFFERING, name: 'hut', lanes: {} } } as Fact,
      ...call('main/ask#0', 'ebb', { outcome: 'killed' }),
    ],
    {},
    { as: 'worker', run: OFFERING, worker: 'hut' },
    ['A run of the worker hut crashed', `calls that the worker executed for run ${OFFERING}, and is not resumed`, '@ask(ebb)'],
  ],
  [
    'what a sealed run had paid for',
    [{ ...started(runRef(2)), salvages: OFFERING } as Fact, ...call('main/ask#0', 'ebb', { outcome: 'killed' })],
    {},
    { as: 'salvage', run: OFFERING },
    ['The record of a sealed run crashed', `what the calls of run ${OFFERING} ended with`],
  ],
])('of %s name the other run and no way to resume it', async (_, facts, about, serves, sentences) => {
  const { report, text } = await reported(facts, about);
  expect(report).toMatchObject({ serves, since: null, resume: { notStarted: 0 } });
  for (const sentence of sentences) expect(text).toContain(sentence);
  if ('run' in serves) expect(text).toContain(`mlld journal postmortem ${OFFERING}`);
  expect(text).not.toMatch(/--resume|No checkpoint/);
});
