/** Lists and sums over all runs of a project leave out lines that they can't read; the log of the server says so. */
import { expect, it, onTestFinished } from 'vitest';
import type { Fact } from '../../journal/event.js';
import { runIdAt } from '../../journal/ids.js';
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
