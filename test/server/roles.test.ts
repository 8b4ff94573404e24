/** Tokens have roles, and requests about all runs of a project say what is wrong with them. In the process of the test. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../journal/storage/memory-store.js';
import type { JournalStore } from '../../journal/store.js';
import { parseTokenFile } from '../../src/server/token-file.js';
import type { PipelineServer } from '../../src/server/server.js';
import { projectFolder, runCli } from '../support/cli.js';
import { serveTeam } from './team-server.js';
import { QUICK } from './pipelines.js';
import { recordSample } from './team-runs.js';

const READ = { role: 'read', token: 'a-token-that-only-reads' } as const;
const RUN = { role: 'run', token: 'a-token-that-may-run-it' } as const;

let server: PipelineServer;
let store: JournalStore;
const log: string[] = [];
beforeAll(async () => {
  store = openMemoryStore();
  for (const [n, user] of ['ada', 'bob'].entries())
    await recordSample(store, { workflow: 'job.mld', atMs: Date.now() - n * 1000, user, usd: 2 });
  server = await serveTeam({ store, folder: await projectFolder(), tokens: [READ, RUN], log: (line) => void log.push(line) });
});
afterAll(() => server?.close());

async function ask(path: string, { token, ...options }: RequestInit & { readonly token?: string } = {}) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(server.url + path, { ...options, headers });
  return { status: response.status, body: (await response.json()) as never };
}

describe('a token that reads', () => {
  it.each([
    ['pipelines', { dot: QUICK }],
    ['inputs', { dot: QUICK }],
    ['pipelines/20260101-000000-000-aaaa/cancel', {}],
    ['pipelines/20260101-000000-000-aaaa/resume', {}],
    ['pipelines/20260101-000000-000-aaaa/questions/q1/answer', { value: 'Y' }],
  ])('changes nothing by POST /%s', async (path, body) => {
    const { status, body: refused } = await ask(path, { method: 'POST', body: JSON.stringify(body), token: READ.token });
    expect([status, refused]).toEqual([
      403,
      { error: { code: 'ROLE_REFUSED', message: expect.any(String) as string, hint: expect.any(String) as string } },
    ]);
    expect((await ask('pipelines', { token: READ.token })).body).toEqual([]);
  });

  it('sees everything', async () => {
    expect((await ask('api/access', { token: READ.token })).body).toEqual({ role: 'read' });
    expect((await ask('api/access', { token: RUN.token })).body).toEqual({ role: 'run' });
    for (const path of ['files', 'api/team/runs', 'api/team/costs', 'api/team/questions', 'api/team/store'])
      expect([path, (await ask(path, { token: READ.token })).status]).toEqual([path, 200]);
  });
});

it('lets a token that runs reach what the other does not', async () => {
  const { status } = await ask('pipelines/20260101-000000-000-aaaa/cancel', { method: 'POST', body: '{}', token: RUN.token });
  expect(status).toBe(404);
});

it.each([undefined, '', `${READ.token}x`, READ.token.slice(1)])('refuses the token %j, and repeats it nowhere', async (token) => {
  const { status, body } = await ask('api/team/runs', token === undefined ? {} : { token });
  expect([status, body]).toMatchObject([401, { error: { code: 'TOKEN_REQUIRED' } }]);
  expect(JSON.stringify([body, log])).not.toContain(READ.token);
});

it('answers with a page of runs, and costs of the same filter', async () => {
  const runs = await ask('api/team/runs?person=ada@laptop&days=2&limit=1', { token: READ.token });
  expect(runs.body).toMatchObject({ matching: 1, total: 2, offset: 0, runs: [{ person: 'ada@laptop', costUsd: 2 }] });
  expect((await ask('api/team/costs?person=ada@laptop', { token: READ.token })).body).toMatchObject({ total: { runs: 1, costUsd: 2 } });
});

it.each(['limit=501', 'offset=-1', 'days=1.5', 'persons=ada'])('refuses the parameter %s', async (query) => {
  expect(await ask(`api/team/runs?${query}`, { token: READ.token })).toMatchObject({
    status: 400,
    body: { error: { code: 'REQUEST_INVALID' } },
  });
});

it('says which store is away instead of taking the fault', async () => {
  const away = Object.assign(new Error('the store can not be reached'), { code: 'STORE_UNREACHABLE', hint: 'is it running?' });
  const broken = Object.assign(Object.create(store) as JournalStore, { workflows: () => Promise.reject(away) });
  const other = await serveTeam({ store: broken, folder: await projectFolder() });
  const response = await fetch(`${other.url}api/team/runs`);
  expect([response.status, await response.json()]).toEqual([
    503,
    { error: { code: 'STORE_UNREACHABLE', message: 'the store can not be reached', hint: 'is it running?' } },
  ]);
  await other.close();
});

describe('a file of tokens', () => {
  it('has a role and a token in each line', () => {
    const text = `# ours\r\nread  ${READ.token}\r\n\n  run\t${RUN.token}\n`;
    expect(parseTokenFile(text, 'tokens')).toEqual([READ, RUN]);
  });

  it.each([
    ['', 'tokens has no token'],
    ['write 0123456789abcdef', 'tokens, line 1: it is not a role (read or run) and a token'],
    ['read', 'tokens, line 1: it is not a role (read or run) and a token'],
    [`\nread ${RUN.token} more`, 'tokens, line 2: it is not a role (read or run) and a token'],
    ['read short-secret', 'tokens, line 1: the token has 12 characters, and needs 16 or more'],
    [`read ${RUN.token}\nrun ${RUN.token}`, 'tokens has one token twice'],
  ])('is refused without showing a token: %j', (text, message) => {
    expect(() => parseTokenFile(text, 'tokens')).toThrow(message);
    try {
      parseTokenFile(text, 'tokens');
    } catch (error) {
      expect(JSON.stringify([(error as Error).message, (error as { hint?: string }).hint])).not.toMatch(
        /short-secret|may-run-it|0123456789abcdef/,
      );
    }
  });

  it('that is not there ends the command with the reason', async () => {
    const { status, stderr } = await runCli(['serve', '--port', '0', '--token-file', 'none'], { cwd: await projectFolder() });
    expect([status, stderr]).toEqual([1, expect.stringContaining("--token-file none can't be read")]);
  });
});
