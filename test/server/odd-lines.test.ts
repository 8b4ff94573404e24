/** Lists and sums over all runs of a project leave out lines that they can't read; the log of the server says so. */
import { expect, it, onTestFinished } from 'vitest';
import type { Fact } from '../../journal/event.js';
import { runIdAt, workflowOf } from '../../journal/ids.js';
import { openMemoryStore } from '../../journal/storage/memory-store.js';
import { projectFolder } from '../support/cli.js';
import { call, finished, JOB, started } from '../support/written-runs.js';
import { serveTeam } from './team-server.js';

it('logs once which lines of a run are left out, however often it is read', async () => {
  const store = openMemoryStore();
  const ref = { workflow: JOB, run: runIdAt(Date.now(), '0000') }; // sums are over the last days
  const journal = await store.create(ref);
  const odd = call('main/ask#0', 'ebb', { outcome: 'failed' }).map((fact) =>
    fact.type === 'call.failed' ? ({ ...fact, message: ['no text'] } as unknown as Fact) : fact,
  );
  for (const fact of [started(ref), ...odd, finished('failed')]) await journal.append(fact);
  await journal.close();
  const log: string[] = [];
  const server = await serveTeam({ store, folder: await projectFolder(), log: (line) => void log.push(line) });
  onTestFinished(() => server.close());
  for (const path of ['runs', 'costs', `runs/${ref.run}/page`, 'costs']) {
    expect([path, (await fetch(`${server.url}api/team/${path}`)).status]).toEqual([path, 200]);
  }
  expect(log.filter((line) => line.includes('message of call.failed'))).toEqual([
    expect.stringMatching(new RegExp(`^run ${ref.run}: line \\d+ has a member .* left out.*; see mlld journal verify ${ref.run}$`)),
  ]);
});

/** Options as somebody else may have recorded them, and how many of them can be read. */
const ODD_OPTIONS: readonly { readonly options: unknown; readonly readable: number }[] = [
  ...[7, null, undefined, {}, 'open', [1, 2], [null], ['open'], [{ key: 1, label: 'no' }]].map((options) => ({ options, readable: 0 })),
  { options: [{ key: 'O', label: 'open', target: 1 }, 7, { key: 'C', label: 'closed' }], readable: 2 },
];

it.each(ODD_OPTIONS)('shows a question with the options that can be read: $options', async ({ options, readable }) => {
  const store = openMemoryStore();
  const ref = { workflow: workflowOf('ferry.dot'), run: runIdAt(Date.now(), '0000') };
  const journal = await store.create(ref);
  const asked = { op: 'main/ask#0', id: 'q1', node: 7, kind: 'choice', text: { open: true }, options };
  for (const fact of [
    { ...started(ref), pipeline: 'ferry' },
    { type: 'question.asked', ...asked },
  ])
    await journal.append(fact as Fact);
  const server = await serveTeam({ store, folder: await projectFolder() });
  onTestFinished(() => server.close());
  for (const path of ['', '/page', '/operations', '/context', '/checkpoint', '/output', '/questions']) {
    expect([path, (await fetch(`${server.url}pipelines/${ref.run}${path}`)).status]).toEqual([path, 200]);
  }
  const questions = `${server.url}pipelines/${ref.run}/questions`;
  const [question] = (await (await fetch(questions)).json()) as readonly { readonly options: readonly object[] }[];
  expect(question).toMatchObject({ id: 'q1', stage: '7', text: '{"open":true}' });
  expect(question?.options).toHaveLength(readable);
  const answer = await fetch(`${questions}/q1/answer`, { method: 'POST', body: '{"value":"P"}' });
  expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining('ANSWER_UNFIT')]);
});
