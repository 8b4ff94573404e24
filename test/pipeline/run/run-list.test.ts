/** The list of pipeline runs reads only the first and last events of a run, and agrees with all of its events. */
import { afterEach, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { runIdAt, workflowOf, type RunRef, type Workflow } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import type { Handler } from '../../../src/pipeline/handlers/handler.js';
import { outcomeOf } from '../../../src/pipeline/model/outcome.js';
import { createPipelineRuns } from '../../../src/session/pipeline/history/pipeline-runs.js';
import { CANCELLED } from '../../../src/session/pipeline/run-pipeline-options.js';
import { pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

let place: Workshop | undefined;
afterEach(() => place?.remove());

const TEXT = pipeline(
  `a [type=step, goal_gate=true]; b [type=step]
   start -> a; a -> b [weight=1]; a -> a [label=anew, loop_restart=true]; b -> exit`,
);

/** Runs whose steps end as these words say; `cancel` and `interrupt` end the run there. */
async function ranWith(shop: Workshop, words: readonly string[], more: Parameters<Workshop['run']>[0] = {}): Promise<void> {
  const ending = new AbortController();
  const left = [...words];
  const step: Handler = {
    handle: async () => {
      const word = left.shift() ?? 'success';
      if (word === 'cancel') ending.abort(CANCELLED);
      if (word === 'interrupt') ending.abort();
      if (word === 'anew') return outcomeOf('success', { preferred_label: 'anew' });
      return outcomeOf(word === 'fail' ? 'fail' : 'success', { failure_reason: 'as told' });
    },
  };
  await shop.begin({ handlers: new Map([['step', step]]), signal: ending.signal, ...more });
}

/** The start of a run that is no pipeline's. */
const startedIn = (workflow: Workflow): Fact => ({
  type: 'run.started',
  workflow,
  name: 'p.dot',
  argv: [],
  payload: {},
  flags: {},
  host: 'quay',
  pid: 1,
  versions: { mlld: '1', node: '20' },
});

async function interrupted(): Promise<{ readonly shop: Workshop; readonly first: RunRef }> {
  const shop = workshop(TEXT);
  place = shop;
  await ranWith(shop, ['interrupt']);
  const [first] = await shop.store.runs(workflowOf('p.dot'));
  if (!first) throw new Error('the run is missing');
  return { shop, first: first.ref };
}

/** Counts runs that are read beyond their first event, and those of which that one is read. */
function counting(store: JournalStore): { readonly store: JournalStore; readonly read: () => number; readonly readFirst: () => number } {
  let [read, first] = [0, 0];
  const scan: JournalStore['scan'] = (ref, visit, options) => {
    if (options?.eventsMax === 1) first += 1;
    else read += 1;
    return store.scan(ref, visit, options);
  };
  return { store: Object.create(store, { scan: { value: scan } }) as JournalStore, read: () => read, readFirst: () => first };
}

it('reports runs that ended, resumed and restarted ones too, as all of their events do', async () => {
  const shop = workshop(TEXT);
  place = shop;
  await ranWith(shop, []);
  await ranWith(shop, ['fail']);
  await ranWith(shop, [], { resume: '' });
  await ranWith(shop, ['cancel']);
  await ranWith(shop, ['anew', 'anew', 'interrupt']);
  await ranWith(shop, ['success', 'fail'], { resume: '' });
  const { store, read } = counting(shop.store);
  const runs = createPipelineRuns(store, () => false);
  const listed = await runs.list();
  expect(read()).toBe(0);
  expect(listed.map(({ status }) => status)).toEqual(['failed', 'cancelled', 'completed', 'completed']);
  for (const status of listed) expect((await runs.find(status.id))?.status).toEqual(status);
});

it('keeps the runs of a pipeline whose results were cleaned, and names the run that a resume continues', async () => {
  const { shop, first } = await interrupted();
  const { workflow } = first;
  const record = await shop.store.create({ workflow, run: runIdAt(Date.now() + 60_000, 'zzzz') });
  const { store, readFirst } = counting(shop.store);
  const watching = createPipelineRuns(store, () => false);
  await record.append(startedIn(workflow));
  for (let look = 0; look < 3; look++) expect(await watching.list()).toMatchObject([{ status: 'interrupted' }]);
  expect(readFirst()).toBe(2);
  await record.append({ type: 'run.finished', status: 'completed', cleaned: true, totals: { executed: 0, reused: 0, failed: 0 } });
  await record.close();
  for (const runs of [watching, createPipelineRuns(shop.store, () => false)]) {
    const { run } = first;
    expect(await runs.list()).toMatchObject([{ id: run, status: 'interrupted' }]);
    expect(await runs.find(run)).toMatchObject({ newest: run });
  }
});

it('keeps the runs of a pipeline beside one that says of itself that it is none', async () => {
  const { shop, first } = await interrupted();
  const { workflow } = first;
  const odd = await shop.store.create({ workflow, run: runIdAt(0, 'zzzz') });
  await odd.append(startedIn(workflow));
  await odd.append({ type: 'run.finished', status: 'completed', totals: { executed: 0, reused: 0, failed: 0 } });
  await odd.close();
  const runs = createPipelineRuns(shop.store, () => false);
  expect(await runs.list()).toMatchObject([{ id: first.run }]);
  expect(await runs.list()).toMatchObject([{ id: first.run }]);
});
