/** Files in a journal that mlld did not write affect only the run whose name they have. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { workflowOf } from '../../../journal/ids.js';
import { folderName } from '../../../journal/storage/layout.js';
import { packArchive } from '../../../journal/upkeep/archive.js';
import { sha256 } from '../../../journal/canonical.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder, type CliResult } from '../../support/cli.js';

const EXE = 'exe llm @tell(q) = sh { echo "$q" >> calls.log; head -c 90000 /dev/zero | tr "\\\\0" x }\n';
const JOB = `${EXE}show @tell("ebb").length\n`;

let cwd: string;
const mlld = (...argv: string[]): Promise<CliResult> => callCli(argv, { cwd });
const calls = (): number => fs.readFileSync(path.join(cwd, 'calls.log'), 'utf8').split('\n').filter(Boolean).length;
const files = (folder: string): string[] =>
  fs
    .readdirSync(path.join(cwd, '.mlld/journal', folder), { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(cwd, '.mlld/journal', folder, name))
    .filter((name) => fs.statSync(name).isFile());

const ODD: [string, (file: string) => void][] = [
  ['a pipe', (file) => void execFileSync('/bin/sh', ['-c', 'mkfifo "$0"', file])],
  ['a device', (file) => fs.symlinkSync('/dev/zero', file)],
  ['a folder', (file) => fs.mkdirSync(file)],
];

describe('what is no plain file', () => {
  beforeEach(async () => {
    cwd = await projectFolder({ 'job.mld': JOB });
    expect(await mlld('job.mld', '--checkpoint')).toMatchObject({ status: 0, stdout: '90000\n' });
  });

  it.each(ODD.slice(0, 2))(
    'is no result where one should be: %s',
    async (_what, put) => {
      for (const file of files('blobs').filter((name) => fs.statSync(name).size > 80_000)) {
        fs.rmSync(file);
        put(file);
      }
      const { status, stdout, stderr } = await mlld('job.mld', '--checkpoint');
      expect({ status, stdout }).toEqual({ status: 0, stdout: '90000\n' });
      expect(stderr).toContain("can't be read any more");
      expect(calls()).toBe(2);
    },
    60_000,
  );

  it.each(ODD)(
    'is no run where one should be: %s',
    async (_what, put) => {
      const [file = ''] = files('job.mld/runs');
      fs.rmSync(file);
      put(file);
      const { status, stdout } = await mlld('job.mld', '--checkpoint');
      expect({ status, stdout }).toEqual({ status: 0, stdout: '90000\n' });
      expect((await mlld('journal', 'verify', path.basename(file, '.ndjson'))).stdout).toContain('is not a plain file');
      expect(await mlld('journal', 'list')).toMatchObject({ status: 0 });
    },
    60_000,
  );

  it.each(ODD)(
    'is no index, lock or key where one should be: %s',
    async (_what, put) => {
      const [file = ''] = files('job.mld/runs');
      for (const name of ['.mlld/journal/job.mld/index', '.mlld/journal/job.mld/crashed', '.mlld/journal/job.mld/turn-0'])
        if (!fs.existsSync(path.join(cwd, name))) put(path.join(cwd, name));
      put(file.replace('.ndjson', '.lock'));
      expect(await mlld('job.mld', '--checkpoint')).toMatchObject({ status: 0, stdout: '90000\n' });
      expect(calls()).toBe(1);
    },
    60_000,
  );
});

describe('a run whose id is a time that no clock shows', () => {
  const YEAR_9999 = '99991231-235959-999-zzzz';

  beforeEach(async () => {
    cwd = await projectFolder({ 'job.mld': 'exe llm @ask(q) = sh { echo "$q" >> calls.log; echo "reply $q" }\nshow @ask("ebb")\n' });
    await mlld('job.mld', '--checkpoint');
  });

  it.each([YEAR_9999, '20261399-000000-000-aaaa'])(
    'is not read, and said so, and ends no recording: %s',
    async (id) => {
      const [file = ''] = files('job.mld/runs');
      fs.copyFileSync(file, path.join(path.dirname(file), `${id}.ndjson`));
      fs.appendFileSync(path.join(cwd, 'job.mld'), 'show @ask("flow")\n');
      const { status, stdout, stderr } = await mlld('job.mld', '--checkpoint');
      expect({ status, stdout }).toEqual({ status: 0, stdout: 'reply ebb\nreply flow\n' });
      expect(stderr).toContain(`run ${id} of job.mld is not read`);
      expect(await mlld('job.mld', '--checkpoint')).toMatchObject({ status: 0, stdout });
      expect(calls()).toBe(2);
      const { stdout: list, stderr: said } = await mlld('journal', 'list', '--json');
      expect((JSON.parse(list) as unknown[]).length).toBe(3);
      expect(said).toContain(`run ${id} of job.mld is not read`);
    },
    60_000,
  );

  it('is refused by unbundle', async () => {
    const [file = ''] = files('job.mld/runs');
    const lines = fs.readFileSync(file);
    const manifest = { bundle: 1, runs: [{ workflow: 'job.mld', run: YEAR_9999, sha256: sha256(lines) }] };
    const bundle = await packArchive(
      [
        { path: 'mlld-bundle.json', content: Buffer.from(JSON.stringify(manifest)) },
        { path: `runs/${YEAR_9999}.ndjson`, content: lines },
      ],
      new Date(0),
    );
    fs.writeFileSync(path.join(cwd, 'crafted.tgz'), bundle);
    const { status, stderr } = await mlld('journal', 'unbundle', 'crafted.tgz');
    expect(status).toBe(1);
    expect(stderr).toContain(YEAR_9999);
    expect(files('job.mld/runs')).toHaveLength(1);
  }, 60_000);
});

describe('a path outside of the project that a record names', () => {
  const replay = (...argv: string[]): Promise<CliResult> => callCli(['journal', 'replay', 'latest', ...argv], { cwd: `${cwd}/p` });

  it.each(['../tide.mld', 'CWD/tide.mld'])('is read by no replay of the script of now: %s', async (name) => {
    cwd = await projectFolder({ 'p/mlld-config.json': '{}', 'p/job.mld': 'show "ebb"\n', 'tide.mld': 'private words' });
    await mlld('p/job.mld', '--checkpoint');
    const journal = path.join(cwd, 'p/.mlld/journal');
    fs.renameSync(path.join(journal, 'job.mld'), path.join(journal, folderName(workflowOf(name.replace('CWD', cwd)))));
    const { status, stderr } = await replay('--current');
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('outside of the project') as string });
    expect(stderr).not.toContain('private');
    expect(await replay()).toMatchObject({ status: 0, stdout: 'ebb\n' });
    fs.writeFileSync(path.join(cwd, 'tide.mld'), 'show "ebb"\n');
    expect((await replay('--current', '--script', '../tide.mld')).status).toBe(0);
  });

  it('is read by no replay of the modules of now, which warns', async () => {
    const script = 'import { @label } from "../names.mld"\nshow @label("ebb")\n';
    const names = 'exe @label(x) = `<< @x >>`\nexport { @label }\n';
    cwd = await projectFolder({ 'p/mlld-config.json': '{}', 'p/job.mld': script, 'names.mld': names });
    await mlld('p/job.mld', '--checkpoint');
    fs.writeFileSync(path.join(cwd, 'names.mld'), 'private words');
    const { status, stderr } = await replay('--current');
    expect(stderr).toContain(`warning: ${cwd}/names.mld is outside of the project: its recorded text is used\n`);
    expect({ status, isRead: stderr.includes('private') }).toEqual({ status: 0, isRead: false });
  });
});
