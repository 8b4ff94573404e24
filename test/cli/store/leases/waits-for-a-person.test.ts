/** A pipeline that waits for a person appends nothing, and hears all the same that another process has taken its run. team-store.md 4.5. */
import { describe, expect, it } from 'vitest';
import { runPipeline } from '../../../../src/api/index.js';
import { makeDatabase, noServer, type TestDatabase } from '../../../journal/postgres/database.js';
import { projectFolder } from '../../../support/cli.js';
import { pipeline } from '../../../support/pipeline-run.js';

/** Takes the run once the question is committed. */
const SEAL = `update mlld.runs r set fence = fence + 1, lease_until = '-infinity'
  where exists (select from mlld.events e where e.run_id = r.run_id and e.line like '%"question.asked"%') returning 1`;

describe.skipIf(noServer !== undefined)(`a wait for a person${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);

  it('ends as paused when the run was sealed', async () => {
    const cwd = await projectFolder({
      'mlld-config.json': '{}',
      'p.dot': pipeline('gate [shape=hexagon, label="Go?"]; start -> gate; gate -> exit [label="Yes"]'),
    });
    const said: string[] = [];
    const running = runPipeline({
      file: `${cwd}/p.dot`,
      workingDirectory: cwd,
      environment: { PATH: process.env['PATH'] ?? '', MLLD_STORE: database.project(), MLLD_LEASE: '2s' },
      io: { stdout: () => undefined, stderr: (text) => void said.push(text) },
      people: 'remote',
    });
    await expect.poll(async () => (await database.query(SEAL)).length, { timeout: 10_000 }).toBe(1);
    const report = await running;
    expect(report).toMatchObject({ status: 'paused', error: { message: 'paused: the store takes nothing of this run any more' } });
    expect(said.join('')).toContain('was sealed: this process may not go on with it');
  });
});
