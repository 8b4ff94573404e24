/** `mlld modules` as a user meets it. */
import fs from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const moduleText = (version: string, body: string): string =>
  `---\nname: fmt\nauthor: m\nversion: ${version}\nabout: Puts brackets around a text\nneeds: [sh, { cmd: nosuch-tool }]\n---\n${body}\nexport { @fmt }\n`;
const folderOf = async () =>
  projectFolder({
    'mlld-config.json': '{}',
    'shared/fmt.mld': moduleText('1.0.0', 'exe llm @fmt(t) = js { return "[" + t + "]" }'),
    'job.mld': 'import { @fmt } from @m/fmt\nshow @fmt("a")\n',
  });

describe('mlld modules', () => {
  it('adds a file, runs a script with it, and says in the journal which version that was', async () => {
    const cwd = await folderOf();
    const missing = await callCli(['job.mld'], { cwd });
    expect(missing).toMatchObject({ status: 1, stderr: expect.stringContaining('hint: mlld modules add @m/fmt') as string });
    const added = await callCli(['modules', 'add', 'shared/fmt.mld'], { cwd });
    expect(added).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^added +@m\/fmt 1\.0\.0 [0-9a-f]{12} from shared\/fmt\.mld\n$/) as string,
    });
    expect(await callCli(['job.mld', '--checkpoint'], { cwd })).toMatchObject({ status: 0, stdout: '[a]\n' });

    fs.writeFileSync(
      path.join(cwd, 'shared/fmt.mld'),
      moduleText('1.1.0', 'var @unused = 1\nexe llm @fmt(t) = js { return "[" + t + "]" }'),
    );
    expect((await callCli(['modules', 'outdated'], { cwd })).status).toBe(1);
    const updated = await callCli(['modules', 'add', 'shared/fmt.mld', '--json'], { cwd });
    expect(JSON.parse(updated.stdout)).toMatchObject([{ name: '@m/fmt', version: '1.1.0', change: 'updated', before: '1.0.0' }]);
    // Its function is the same, so the result of the other version is reused.
    expect(await callCli(['job.mld', '--checkpoint'], { cwd })).toMatchObject({ stderr: expect.stringContaining('1 reused') as string });
    expect((await callCli(['journal', 'show', 'latest', '--type', 'source'], { cwd })).stdout).toContain('read the module @m/fmt 1.1.0 (');
    expect((await callCli(['journal', 'diff', 'job@2', 'job'], { cwd })).stdout).toContain('source @m/fmt (1.0.0, then 1.1.0)');
    expect((await callCli(['journal', 'audit', 'latest', '--json'], { cwd })).stdout).toContain('"module":{"name":"@m/fmt"');
    const replayed = await callCli(['journal', 'replay', 'latest'], { cwd });
    expect(replayed.status).toBe(0);
  });

  it('lists and verifies, and fails for a changed file', async () => {
    const cwd = await folderOf();
    await callCli(['modules', 'add', 'shared/fmt.mld'], { cwd });
    const listed = await callCli(['modules', 'list'], { cwd });
    expect(listed.stdout).toMatch(/^@m\/fmt +1\.0\.0 +[0-9a-f]{12} +verified +shared\/fmt\.mld +job\.mld$/m);
    const { modules } = JSON.parse((await callCli(['modules', 'list', '--json'], { cwd })).stdout) as { modules: { path: string }[] };
    fs.appendFileSync(path.join(cwd, modules[0]!.path), '>> edited\n');
    const verified = await callCli(['modules', 'verify'], { cwd });
    expect(verified).toMatchObject({ status: 1, stdout: expect.stringContaining('@m/fmt: the file is not what the lock says') as string });
    const run = await callCli(['job.mld'], { cwd });
    expect(run).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('The module @m/fmt is not what') as string });
    expect(await callCli(['modules', 'remove', '@m/fmt'], { cwd })).toMatchObject({ status: 0, stdout: 'removed @m/fmt\n1 file deleted\n' });
    expect(await callCli(['modules', 'remove'], { cwd })).toMatchObject({ status: 1 });
    expect(await callCli(['modules', 'remove', '@m/fmt'], { cwd })).toMatchObject({ status: 1, stderr: expect.stringContaining('is not in mlld-lock.json') as string });
  }); // prettier-ignore

  it('shows what a module is for and needs, and which version a run had', async () => {
    const cwd = await folderOf();
    const checked = await callCli(['validate', 'shared/fmt.mld'], { cwd });
    expect(checked.stdout).toContain('Valid module\n@m/fmt 1.0.0\nPuts brackets around a text\n');
    expect(checked.stdout).toContain('Needs:\n  sh\n  nosuch-tool\n');
    expect(checked.stdout).toContain('(line 6:1) - needs: the program nosuch-tool is not on PATH');
    await callCli(['modules', 'add', 'shared/fmt.mld'], { cwd });
    const listed = await callCli(['modules', 'list'], { cwd });
    expect(listed.stdout).toContain('@m/fmt: Puts brackets around a text (needs sh, nosuch-tool)\n');
    await callCli(['job.mld', '--checkpoint'], { cwd });
    expect((await callCli(['journal', 'explain', 'job'], { cwd })).stdout).toContain('\nwith @m/fmt 1.0.0\n');
    fs.writeFileSync(path.join(cwd, 'shared/fmt.mld'), moduleText('1.1.0', 'exe llm @fmt(t) = js { return "<" + t + ">" }'));
    await callCli(['modules', 'add', 'shared/fmt.mld'], { cwd });
    await callCli(['job.mld', '--checkpoint'], { cwd });
    expect((await callCli(['journal', 'explain', 'job'], { cwd })).stdout).toContain('\nwith @m/fmt 1.1.0 (before: 1.0.0)\n');
  });

  it('warns at the import of what a module needs and is missing, once a file', async () => {
    const cwd = await folderOf();
    await callCli(['modules', 'add', 'shared/fmt.mld'], { cwd });
    fs.writeFileSync(path.join(cwd, 'outer.mld'), 'import { @text } from "./shared/inner.mld"\nshow @text\n');
    fs.writeFileSync(path.join(cwd, 'shared/inner.mld'), 'import { @fmt } from @m/fmt\nvar @text = @fmt("a")\n');
    const warning = '1:22 - @m/fmt needs: the program nosuch-tool is not on PATH: install it, or add its folder to PATH';
    expect(await callCli(['job.mld'], { cwd })).toMatchObject({
      stdout: '[a]\n',
      stderr: expect.stringContaining(`Pre-flight warnings:\n  warning: job.mld:${warning}\n`) as string,
    });
    expect((await callCli(['run', 'job.mld', '--no-warn'], { cwd })).stderr).not.toContain('nosuch-tool');
    for (const depth of [[], ['--deep']]) {
      const { warnings } = JSON.parse((await callCli(['validate', 'job.mld', '--format', 'json', ...depth], { cwd })).stdout) as {
        warnings: { message: string }[];
      };
      expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining('@m/fmt needs: the program nosuch-tool')]);
    }
    const deep = await callCli(['validate', 'outer.mld', '--deep'], { cwd });
    expect(deep.stdout).toContain(`shared/inner.mld:${warning}`.replace(' - ', ') - '));
    expect(await callCli(['run', 'outer.mld', '--strict'], { cwd })).toMatchObject({ status: 1 });
    expect(await callCli(['job.mld', '--strict'], { cwd })).toMatchObject({ status: 1, stdout: '' });
  });

  it('adds from a registry by name and by address, and a run asks nobody', async () => {
    const requests: string[] = [];
    const text = moduleText('2.0.0', 'exe @fmt(t) = `{@t}`');
    const server = createServer(({ url = '' }, response) => {
      requests.push(url);
      if (url === '/index.json') response.end(JSON.stringify({ modules: { '@m/fmt': { version: '2.0.0', source: { url: 'fmt.mld' } } } }));
      else response.end(text);
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const cwd = await projectFolder({
      'mlld-config.json': JSON.stringify({ modules: { registry: `${base}/index.json` } }),
      'named.mld': 'import { @fmt } from @m/fmt\nshow @fmt("a")\n',
      'addressed.mld': `import { @fmt } from "${base}/fmt.mld"\nshow @fmt("b")\n`,
    });
    for (const [script, added] of [
      ['named', '@m/fmt'],
      ['addressed', `${base}/fmt.mld`],
    ] as const) {
      // prettier-ignore
      for (const argv of [[`${script}.mld`], ['validate', '--deep', `${script}.mld`]]) {
        const refused = await callCli(argv, { cwd });
        expect(`${refused.stdout}${refused.stderr}`).toContain(`mlld modules add ${added}`);
      }
    }
    expect(requests).toEqual([]);
    expect(await callCli(['modules', 'add', '@m/fmt'], { cwd })).toMatchObject({ status: 0, stderr: '' });
    expect(await callCli(['modules', 'add', `${base}/fmt.mld`, '--as', '@m/by-address'], { cwd })).toMatchObject({ status: 0, stderr: '' });
    expect(requests).toEqual(['/index.json', '/fmt.mld', '/fmt.mld']);
    await new Promise((resolve) => void server.close(resolve));
    expect(await callCli(['named.mld'], { cwd })).toMatchObject({ status: 0, stdout: '{a}\n' });
    expect(await callCli(['addressed.mld'], { cwd })).toMatchObject({ status: 0, stdout: '{b}\n' });
    const gone = await callCli(['modules', 'add', '@m/fmt'], { cwd });
    expect(gone).toMatchObject({ status: 1, stderr: expect.stringContaining(base) as string });
    expect(await callCli(['named.mld'], { cwd })).toMatchObject({ status: 0, stdout: '{a}\n' });
  });
});
