/** `mlld serve` over the store of a team that goes away. docs/serve.md. */
import { expect, it } from 'vitest';
import { Between } from '../../journal/support/between.js';
import { makeDatabase, noServer, type TestDatabase } from '../../journal/postgres/database.js';
import { projectFolder } from '../../support/cli.js';
import { serve } from '../../support/served.js';
import { QUICK } from '../../server/pipelines.js';

const TIMEOUT_MS = 120_000;
const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);

it.skipIf(noServer !== undefined)(
  `answers that the store is away, instead of waiting for it, and shows it again${noServer === undefined ? '' : ` (not run: ${noServer})`}`,
  async () => {
    const between = await Between.open(database.project());
    const folder = await projectFolder({ 'mlld-config.json': '{}' });
    const served = await serve({ folder, env: { MLLD_STORE: between.url } });
    expect(await served.get('/api/team/runs')).toMatchObject({ status: 200 });
    between.isAway = true;
    between.cut();
    expect(await served.get('/api/team/runs')).toMatchObject({ status: 503, body: { error: { code: 'STORE_UNREACHABLE' } } });
    between.isAway = false;
    await expect.poll(async () => (await served.get('/api/team/runs')).status).toBe(200);
    await served.end('SIGTERM');
  },
  TIMEOUT_MS,
);

it.skipIf(noServer !== undefined)(
  `never says that there is no run which it has begun${noServer === undefined ? '' : ` (not run: ${noServer})`}`,
  async () => {
    const between = await Between.open(database.project());
    const served = await serve({ folder: await projectFolder({ 'mlld-config.json': '{}' }), env: { MLLD_STORE: between.url } });
    between.onSent = (text) => !text.includes('"type":"run.started"'); // it goes to the disk of this machine, and that is told
    const id = await served.send(QUICK);
    for (const path of ['', '/events', '/page', '/questions'])
      expect(await served.get(`/pipelines/${id}${path}`)).toMatchObject({ status: 503, body: { error: { code: 'RUN_NOT_STORED' } } });
    expect(await served.post(`/pipelines/${id}/cancel`)).toMatchObject({ status: 503 });
    expect((await served.get('/pipelines/20260101-000000-000-aaaa')).status).toBe(404);
    between.onSent = () => true;
    between.cut();
    await expect.poll(async () => (await served.get(`/pipelines/${id}`)).body, { timeout: 50_000 }).toMatchObject({ status: 'completed' });
    await served.end('SIGTERM');
  },
  TIMEOUT_MS,
);
