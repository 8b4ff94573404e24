/** `mlld modules` as a user meets it. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectFolder, runCli } from '../../support/cli.js';

const moduleText = (version: string, body: string): string =>
  `---\nname: fmt\nauthor: m\nversion: ${version}\n---\n${body}\nexport { @fmt }\n`;
const folderOf = async () =>
  projectFolder({
    'mlld-config.json': '{}',
    'shared/fmt.mld': moduleText('1.0.0', 'exe llm @fmt(t) = js { return "[" + t + "]" }'),
    'job.mld': 'import { @fmt } from @m/fmt\nshow @fmt("a")\n',
  });

describe('mlld modules', () => {
  it('adds a file, runs a script with it, and says in the journal which version that was', async () => {
    const cwd = await folderOf();
    const missing = await runCli(['job.mld'], { cwd });
    expect(missing).toMatchObject({ status: 1, stderr: expect.stringContaining('hint: mlld modules add @m/fmt') as string });
    const added = await runCli(['modules', 'add', 'shared/fmt.mld'], { cwd });
    expect(added).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^added +@m\/fmt 1\.0\.0 [0-9a-f]{12} from shared\/fmt\.mld\n$/) as string,
    });
    expect(await runCli(['job.mld', '--checkpoint'], { cwd })).toMatchObject({ status: 0, stdout: '[a]\n' });

    fs.writeFileSync(
      path.join(cwd, 'shared/fmt.mld'),
      moduleText('1.1.0', 'var @unused = 1\nexe llm @fmt(t) = js { return "[" + t + "]" }'),
    );
    expect((await runCli(['modules', 'outdated'], { cwd })).status).toBe(1);
    const updated = await runCli(['modules', 'add', 'shared/fmt.mld', '--json'], { cwd });
    expect(JSON.parse(updated.stdout)).toMatchObject([{ name: '@m/fmt', version: '1.1.0', change: 'updated', before: '1.0.0' }]);
    // Its function is the same, so the result of the other version is reused.
    expect(await runCli(['job.mld', '--checkpoint'], { cwd })).toMatchObject({ stderr: expect.stringContaining('1 reused') as string });
    expect((await runCli(['journal', 'show', 'latest', '--type', 'source'], { cwd })).stdout).toContain('read the module @m/fmt 1.1.0 (');
    expect((await runCli(['journal', 'diff', 'job@2', 'job'], { cwd })).stdout).toContain('source @m/fmt (1.0.0, then 1.1.0)');
    expect((await runCli(['journal', 'audit', 'latest', '--json'], { cwd })).stdout).toContain('"module":{"name":"@m/fmt"');
    const replayed = await runCli(['journal', 'replay', 'latest'], { cwd });
    expect(replayed.status).toBe(0);
  });

  it('lists and verifies, and fails for a changed file', async () => {
    const cwd = await folderOf();
    await runCli(['modules', 'add', 'shared/fmt.mld'], { cwd });
    const listed = await runCli(['modules', 'list'], { cwd });
    expect(listed.stdout).toMatch(/^@m\/fmt +1\.0\.0 +[0-9a-f]{12} +verified +shared\/fmt\.mld +job\.mld$/m);
    const { modules } = JSON.parse((await runCli(['modules', 'list', '--json'], { cwd })).stdout) as { modules: { path: string }[] };
    fs.appendFileSync(path.join(cwd, modules[0]!.path), '>> edited\n');
    const verified = await runCli(['modules', 'verify'], { cwd });
    expect(verified).toMatchObject({ status: 1, stdout: expect.stringContaining('@m/fmt: the file is not what the lock says') as string });
    const run = await runCli(['job.mld'], { cwd });
    expect(run).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('The module @m/fmt is not what') as string });
    expect(await runCli(['modules', 'remove', '@m/fmt'], { cwd })).toMatchObject({ status: 0, stdout: 'removed @m/fmt\n1 file deleted\n' });
    expect(await runCli(['modules', 'remove'], { cwd })).toMatchObject({ status: 1 });
    expect(await runCli(['modules', 'remove', '@m/fmt'], { cwd })).toMatchObject({ status: 1, stderr: expect.stringContaining('is not in mlld-lock.json') as string });
  }); // prettier-ignore
});
