import { beforeEach, expect, it } from 'vitest';
import { workflowOf, type CallKey, type OpPath } from '../../journal/ids.js';
import { openMemoryStore } from '../../journal/storage/memory-store.js';
import type { JournalStore } from '../../journal/store.js';
import { usable } from '../../replay/memo/memo.js';
import { openPriorRuns, type OpenedPriorRuns } from '../../src/session/ports/prior-runs.js';
import type { CacheRequest } from '../../src/session/script/run-options.js';
import { runRef, smallRun, workflow } from '../journal/support/facts.js';

const digest = workflowOf('llm/run/digest.mld');
let store: JournalStore;

beforeEach(async () => {
  store = openMemoryStore();
  const journal = await store.create(runRef(1));
  for (const fact of smallRun) await journal.append(fact);
  await journal.close();
});

function open(cache: CacheRequest, of = workflow): Promise<OpenedPriorRuns> {
  return openPriorRuns({
    store,
    project: { root: '/p', config: { scriptDir: 'llm/run', prefixes: [], suppressWarnings: [] }, workingDirectory: '/p' },
    workflow: of,
    cache,
    declarations: { declares: () => false, knownFunctions: [] },
    onDefect: (defect) => expect.unreachable(defect.message),
  });
}

const resultsIn = ({ usable: { memo } }: OpenedPriorRuns): number => [...usable(memo)].length;

it('reuses what is recorded without any target', async () => {
  const opened = await open({ checkpoint: true });
  expect([resultsIn(opened), opened.invalidations, opened.notices]).toEqual([2, [], []]);
});

it('has --fresh invalidate everything, and still knows the runs that there are', async () => {
  const opened = await open({ fresh: true });
  expect([resultsIn(opened), opened.loaded.runs.length]).toEqual([0, 1]);
  expect(opened.invalidations).toEqual([{ type: 'memo.reset', reason: 'fresh' }]);
});

it('has --resume @fn invalidate its results, and says what that costs', async () => {
  const opened = await open({ resume: '@review' });
  expect(opened.invalidations).toMatchObject([
    { type: 'memo.invalidated', selector: '@review', keys: [expect.any(String), expect.any(String)] },
  ]);
  expect(opened.notices).toEqual(['--resume @review: 2 of 2 calls will run again']);
});

it('has --resume failed invalidate nothing, and says how many calls have no result', async () => {
  expect(await open({ resume: 'failed' })).toMatchObject({
    invalidations: [],
    notices: ['--resume failed: no call is without a result; 2 results are reused'],
  });
  const journal = await store.create(runRef(2));
  const call = smallRun.find((fact) => fact.type === 'call.started');
  if (call?.type !== 'call.started') throw new Error('the small run makes calls');
  const [key, op] = [`sha256:${'9'.repeat(64)}` as CallKey, 'main/late#0' as OpPath];
  await journal.append({ ...call, key, op });
  await journal.append({ type: 'call.failed', key, op, message: 'no', elapsedMs: 1, class: 'crash', evidence: 'none' });
  await journal.close();
  expect((await open({ resume: 'failed' })).notices).toEqual([
    '--resume failed: 1 call has no result and will be executed; 2 results are reused',
  ]);
  const behind = await store.create(runRef(3));
  const facts = smallRun.flatMap((fact) => (fact.type === 'run.started' ? [fact] : []));
  const upstream = { message: 'not executed', elapsedMs: 0, class: 'upstream', evidence: 'none', upstream: [op] } as const;
  const after = [`sha256:${'8'.repeat(64)}` as CallKey, 'main/conclude#0' as OpPath] as const;
  for (const fact of facts) await behind.append(fact);
  await behind.append({ ...call, key, op });
  await behind.append({ type: 'call.failed', key, op, message: 'no', elapsedMs: 1, class: 'crash', evidence: 'none' });
  await behind.append({ type: 'call.failed', key: after[0], op: after[1], fn: 'conclude', ...upstream });
  await behind.close();
  expect((await open({ resume: 'failed' })).notices).toEqual([
    '--resume failed: 1 call has no result and will be executed, and so will 1 that was not executed because of failed ones; 2 results are reused',
  ]);
});

it('has --resume failed tell calls that are executed from those whose result the guards judge', async () => {
  const journal = await store.create(runRef(2));
  const begun = smallRun.find((fact) => fact.type === 'call.started');
  const completed = smallRun.find((fact) => fact.type === 'call.completed');
  if (begun?.type !== 'call.started' || completed?.type !== 'call.completed') throw new Error('the small run makes calls');
  for (const [n, digit] of ['8', '9'].entries()) {
    const its = { key: `sha256:${digit.repeat(64)}` as CallKey, op: `main/late#${n}` as OpPath };
    await journal.append({ ...begun, ...its });
    if (n === 0) await journal.append({ ...completed, ...its, type: 'result.received' });
  }
  await journal.close();
  expect((await open({ resume: 'failed' })).notices).toEqual([
    '--resume failed: 1 call has no result and will be executed; guards judge the result of 1 more, which is paid for; 2 results are reused',
  ]);
});

it('leaves no trace of a target that can not be resolved', async () => {
  await expect(open({ resume: '@nobody' })).rejects.toThrow('nobody');
  expect((await store.runs(workflow)).length).toBe(1);
});

it('forks a workflow up to one of its runs, or up to an event of it', async () => {
  const { run } = runRef(1);
  const whole = await open({ forks: ['patrol'] }, digest);
  const part = await open({ forks: [`patrol@${run}:3`] }, digest);
  expect([...whole.forks, ...part.forks].map(({ memo, run: at, seq }) => [[...usable(memo)].length, at, seq])).toEqual([
    [2, undefined, undefined],
    [1, run, 3],
  ]);
});

it.each([
  ['patrol', workflow, 'FORK_SELF'],
  ['nowhere', digest, 'FORK_UNKNOWN'],
  ['patrol@', digest, 'FORK_RUN'],
  ['patrol@20990101', digest, 'FORK_RUN'],
  [`patrol@latest:99`, digest, 'FORK_RUN'],
])('refuses --fork %s', async (fork, of, code) => {
  await expect(open({ forks: [fork] }, of)).rejects.toMatchObject({ code });
});
