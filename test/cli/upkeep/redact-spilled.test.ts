import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';
import { realDisk } from '../../../journal/storage/disk.js';
import { Line } from '../../journal/postgres/away/breakable-line.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../../journal/postgres/database.js';
import { callCompleted, callStarted, runRef, started } from '../../journal/support/facts.js';
import { projectFolder } from '../../support/cli.js';
import { callCli } from '../../support/in-process/call-cli.js';

const SECRET = 'tide-token-4711';

describe.skipIf(noServer !== undefined)(`a spilled result${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);

  it('is brought in before a redaction, which removes it', async () => {
    const [cwd, url] = [await projectFolder({ 'mlld-config.json': '{}' }), database.project()];
    const folder = join(cwd, '.mlld', 'spill');
    await leaveResult(url, folder);
    const redact = async (...more: string[]) =>
      callCli(['journal', 'redact', runRef(1).run, '--match', SECRET, ...more], { cwd, env: { MLLD_STORE: url } });
    expect(await redact('--dry-run')).toMatchObject({ status: 0, stderr: '' });
    expect(globSync('**/*.ndjson', { cwd: folder })).toHaveLength(1);
    expect(await redact()).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('1 result of llm calls'),
      stderr: expect.stringContaining('brought in 1 event'),
    });
    expect(globSync('**/*', { cwd: folder })).toEqual([]);
    const shown = await callCli(['journal', 'show', runRef(1).run, '--json'], { cwd, env: { MLLD_STORE: url } });
    expect(shown.stdout).toContain('call.completed');
    expect(shown.stdout).not.toContain(SECRET);
  });

  it('is named by a redaction where a damaged file keeps it, which no command brings in', async () => {
    const [cwd, url] = [await projectFolder({ 'mlld-config.json': '{}' }), database.project()];
    const folder = join(cwd, '.mlld', 'spill');
    await leaveResult(url, folder);
    const [path = ''] = globSync('**/*.ndjson', { cwd: folder, absolute: true });
    await writeFile(path, (await readFile(path, 'utf8')).replace('"call.completed"', '"call.complete"'));
    const redact = () => callCli(['journal', 'redact', runRef(1).run, '--match', SECRET], { cwd, env: { MLLD_STORE: url } });
    const warning = `warning: ${path}.damaged may still hold it`;
    expect((await redact()).stderr).toContain(warning);
    expect((await redact()).stderr).toContain(warning); // also where an earlier command set it aside
    await rm(`${path}.damaged`);
    expect((await redact()).stderr).toBe('');
  });
});

/** Leaves a run whose result is in the spill of a process that is gone. */
async function leaveResult(url: string, folder: string): Promise<void> {
  const line = new Line(url);
  const store = openTestStore(url, { connect: line.connect, spill: { disk: realDisk, folder }, waitMs: 50 });
  const journal = await store.create(runRef(1));
  await journal.append(started);
  await journal.append(callStarted(1));
  await line.cut();
  await journal.append({ ...callCompleted(1), result: { inline: SECRET } } as typeof started);
  await expect(journal.close()).rejects.toMatchObject({ code: 'STORE_SPILLED' });
  await store.close();
  for (const path of globSync('**/*.ndjson', { cwd: folder, absolute: true })) {
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace(/"boot":"[^"]*"/, '"boot":"another one"'));
  }
}
