/** A disk that takes nothing for a while, and a run of many paid calls: nothing is paid for twice, nothing is paid for unrecorded. */
import fs from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { projectFolder, runCli, type CliResult } from '../../support/cli.js';

/**
 * From the FAIL_AFTER-th write to the journal on, everything that would need space there fails, for FAIL_MS. With FAIL_ONLY=blobs only
 * large results do.
 */
const FULL = `
const fs = require('node:fs');
const { openSync, writeSync, fdatasync, closeSync } = fs;
const after = Number(process.env.FAIL_AFTER), ms = Number(process.env.FAIL_MS), part = '/.mlld/journal' + (process.env.FAIL_ONLY ? '/' + process.env.FAIL_ONLY : '');
const files = new Set();
let writes = 0, since;
const full = () => {
  if (since === undefined && ++writes > after) since = Date.now();
  return since !== undefined && Date.now() - since < ms;
};
const fail = () => Object.assign(new Error('ENOSPC: made up'), { code: 'ENOSPC' });
fs.openSync = (name, flags, ...rest) => {
  const isJournal = flags === 'wx' && String(name).includes(part);
  if (isJournal && since !== undefined && full()) throw fail();
  const file = openSync(name, flags, ...rest);
  if (isJournal) files.add(file);
  return file;
};
fs.closeSync = (file) => (files.delete(file), closeSync(file));
fs.writeSync = (file, bytes, start, length, position) => {
  if (!files.has(file) || !full()) return writeSync(file, bytes, start, length, position);
  if (length > 1) writeSync(file, bytes, start, length >> 1, position);
  throw fail();
};
fs.fdatasync = (file, done) => (files.has(file) && since !== undefined && full() ? setImmediate(done, fail()) : fdatasync(file, done));
`;

const EXE = 'exe llm @ask(q) = sh { echo "$q" >> calls.log; echo "reply $q" }\n';
const MANY = `${EXE}var @items = @list()\nfor parallel(4) @i in @items => show @ask(@i)\n`;
const LIST = `exe @list() = js { return Array.from({ length: 150 }, (_, n) => 'n' + n) }\n`;
const LARGE = 'exe llm @ask(q) = sh { echo "$q" >> calls.log; head -c 90000 /dev/zero | tr "\\\\0" x }\n';
const FEW = `show @ask("one").length\nshow @ask("two").length\nshow @ask("three").length\n`;

let cwd: string;
const calls = (): string[] =>
  fs.existsSync(path.join(cwd, 'calls.log')) ? fs.readFileSync(path.join(cwd, 'calls.log'), 'utf8').split('\n').filter(Boolean) : [];
const mlld = (...argv: string[]): Promise<CliResult> => runCli(argv, { cwd });
const outage = (env: { after: number; ms: number; only?: string }, ...argv: string[]): Promise<CliResult> =>
  runCli(argv, {
    cwd,
    env: {
      FAIL_AFTER: String(env.after),
      FAIL_MS: String(env.ms),
      ...(env.only === undefined ? {} : { FAIL_ONLY: env.only }),
      NODE_OPTIONS: `--require=${path.join(cwd, 'full.cjs')}`,
    },
  });
const statuses = async (): Promise<string[]> =>
  (JSON.parse((await mlld('journal', 'list', '--json')).stdout) as { status: string }[]).map(({ status }) => status);

describe('a disk that takes nothing for a while', () => {
  beforeEach(async () => {
    cwd = await projectFolder({ 'many.mld': LIST + MANY, 'few.mld': EXE + FEW, 'large.mld': LARGE + FEW, 'full.cjs': FULL });
  });

  it.each([0, 1, 20, 150])(
    'costs a run of 150 calls none of them, when it begins at write %i',
    async (after) => {
      const { status, stdout } = await outage({ after, ms: 400 }, 'many.mld', '--checkpoint');
      expect({ status, lines: stdout.split('\n').filter(Boolean).length }).toEqual({ status: 0, lines: 150 });
      expect(calls()).toHaveLength(150);
      expect(await mlld('many.mld', '--checkpoint')).toMatchObject({ status: 0 });
      expect(calls()).toHaveLength(150);
      expect(await statuses()).toEqual(['completed', 'completed']);
      expect(await mlld('journal', 'verify', 'many')).toMatchObject({ status: 0 });
    },
    120_000,
  );

  it('pauses a run before its next call when it lasts too long, and a resume pays for nothing twice', async () => {
    // The lock is the first write, run.started the second.
    const { status, stderr } = await outage({ after: 6, ms: 1e6 }, 'few.mld', '--checkpoint', '--journal-wait', '300ms');
    expect(status).toBe(5);
    expect(stderr).toContain('paused: no call is made');
    expect(stderr).toContain('--resume');
    expect(stderr).toContain('--unrecorded');
    const paid = calls();
    expect(paid.length).toBeLessThan(3);
    expect(await mlld('few.mld', '--resume')).toMatchObject({ status: 0, stdout: '9\n9\n11\n' });
    // Only what was in flight at the fault may be paid for again.
    expect(calls().length).toBeLessThanOrEqual(4);
  }, 60_000);

  it('records the pause, and all that it had kept, when the disk is back at the end', async () => {
    const { status, stderr } = await outage({ after: 6, ms: 700 }, 'few.mld', '--checkpoint', '--journal-wait', '0');
    expect(status).toBe(5);
    expect(stderr).toContain('paused');
    const [last] = await statuses();
    expect(['paused', 'crashed']).toContain(last);
  }, 60_000);

  it('continues without a record with --unrecorded', async () => {
    const { status, stdout, stderr } = await outage(
      { after: 6, ms: 1e6 },
      'few.mld',
      '--checkpoint',
      '--journal-wait',
      '200ms',
      '--unrecorded',
    );
    expect({ status, stdout }).toEqual({ status: 0, stdout: '9\n9\n11\n' });
    expect(stderr).toContain('results are not recorded');
    expect(calls()).toEqual(['one', 'two', 'three']);
  }, 60_000);

  it('costs no large result either', async () => {
    const { status, stdout } = await outage({ after: 0, ms: 400, only: 'blobs' }, 'large.mld', '--checkpoint');
    expect({ status, stdout }).toEqual({ status: 0, stdout: '90000\n90000\n90000\n' });
    expect(await mlld('large.mld', '--checkpoint')).toMatchObject({ status: 0, stdout });
    expect(calls()).toEqual(['one', 'two', 'three']);
  }, 60_000);

  it('says why a run waits whose large results find no room, and that it continues', async () => {
    const { status, stderr } = await outage({ after: 0, ms: 2500, only: 'blobs' }, 'large.mld', '--checkpoint');
    expect(status).toBe(0);
    expect(stderr.match(/calls wait, for 60 s at most/g)).toHaveLength(1);
    expect(stderr).toContain('the journal is written again; nothing is missing in it');
    expect(calls()).toEqual(['one', 'two', 'three']);
  }, 60_000);

  it('pauses a run whose large results find no room for too long', async () => {
    const { status, stderr } = await outage({ after: 0, ms: 1e6, only: 'blobs' }, 'large.mld', '--checkpoint', '--journal-wait', '300ms');
    expect(status).toBe(5);
    expect(stderr).toContain('paused: no call is made');
    expect(calls()).toEqual(['one']);
    expect(await statuses()).toEqual(['paused']);
    expect(await mlld('large.mld', '--resume')).toMatchObject({ status: 0, stdout: '90000\n90000\n90000\n' });
  }, 60_000);

  it('loses a text of the script without a word that results were lost', async () => {
    fs.writeFileSync(
      path.join(cwd, 'no-rename.cjs'),
      `const fs = require('node:fs');\nfs.promises.rename = async () => { throw Object.assign(new Error('EIO: made up'), { code: 'EIO' }); };\n`,
    );
    const env = { NODE_OPTIONS: `--require=${path.join(cwd, 'no-rename.cjs')}` };
    const { status, stderr } = await runCli(['few.mld', '--checkpoint'], { cwd, env });
    expect(status).toBe(0);
    expect(stderr).toContain('results are recorded, but journal replay may not find all it needs');
    expect(stderr).not.toContain('not recorded');
    expect(await mlld('few.mld', '--checkpoint')).toMatchObject({ status: 0, stdout: '9\n9\n11\n' });
    expect(calls()).toEqual(['one', 'two', 'three']);
  }, 60_000);

  it('records how a pipeline ended that could not write the file of a reply', async () => {
    const model = 'cat > /dev/null; rm -rf "$MLLD_STAGE_DIR"; touch "$MLLD_STAGE_DIR"; sleep 0.3; echo reply';
    fs.writeFileSync(path.join(cwd, 'model.sh'), model);
    fs.writeFileSync(
      path.join(cwd, 'p.dot'),
      'digraph p { graph [backend="cmd:bash model.sh"]; start [shape=Mdiamond]; a [prompt="A"]; exit [shape=Msquare]; start -> a -> exit }',
    );
    expect(await outage({ after: 1e6, ms: 0 }, 'run', 'p.dot')).toMatchObject({ status: 1 });
    expect((await statuses())[0]).toBe('failed');
  });

  it('lets a call that has begun end, and a call inside it wait no longer than that', async () => {
    fs.writeFileSync(
      path.join(cwd, 'nested.mld'),
      `${EXE}exe llm @outer(q) = [\n  let @a = @ask(@q)\n  => \`outer @a\`\n]\nexe llm @slow(q) = sh { sleep 1; echo "$q" >> calls.log; echo slow }\nvar @all = for parallel(3) @i in [1, 2, 3] => when [\n  @i == 1 => @outer("inner")\n  @i == 2 => @slow("s")\n  * => @ask("last")\n]\nshow @all\n`,
    );
    const { status } = await outage({ after: 4, ms: 1e6 }, 'nested.mld', '--checkpoint', '--journal-wait', '200ms');
    expect(status).toBe(5);
  }, 60_000);
});
