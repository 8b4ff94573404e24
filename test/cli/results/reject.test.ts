/** `mlld journal reject RUN PATH` (calls.md 15.1 to 15.4). */
import { beforeEach, describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

let cwd: string;
const mlld = async (...argv: string[]) => callCli(argv, { cwd });
const PATH = 'main/for#0[1]/ask#0';

beforeEach(async () => {
  cwd = await projectFolder({
    'job.mld':
      'exe llm @ask(q) = sh { echo $q >> calls.log; echo "$(grep -cx $q calls.log):$q" }\nvar @r = for @i in ["a", "b"] => @ask(@i)\nshow @r.join(" ")\n',
    'other.mld':
      'exe llm @ask(q) = sh { echo $q >> other.log; echo "other:$q" }\nvar @r = for @i in ["a", "b"] => @ask(@i)\nshow @r.join(" ")\n',
  });
  expect(await mlld('job.mld', '--checkpoint')).toMatchObject({ status: 0, stdout: '1:a 1:b\n' });
});

const shown = async (...argv: string[]): Promise<string> => (await mlld(...argv)).stdout;

/** The first event of a run. */
const startOf = async (run: string): Promise<{ readonly host: string; readonly user?: string }> =>
  JSON.parse((await shown('journal', 'show', run, '--json')).split('\n', 1)[0] ?? '') as { host: string };

describe('mlld journal reject', () => {
  it('has the call executed again, once, and is passed over by latest and SCRIPT@2', async () => {
    expect(await shown('journal', 'reject', 'job', PATH, '--reason', 'off topic')).toContain('@ask(b)');
    expect(await shown('checkpoint', 'list', 'job')).toBe('Checkpoint entries for job:\n- ask | a\nTotal: 1\n');
    const statuses = (JSON.parse(await shown('journal', 'list', '--json')) as { status: string }[]).map(({ status }) => status);
    expect(statuses).toEqual(['rejected', 'completed']);
    expect(await shown('journal', 'show', 'latest', '--type', 'call.completed')).toContain('1:b');
    expect(await shown('job.mld', '--checkpoint')).toBe('1:a 2:b\n');
    expect(await shown('job.mld', '--checkpoint')).toBe('1:a 2:b\n');
    expect(await shown('journal', 'explain', 'job@2')).toMatch(/executed: its result was rejected on \d{4}-.*: off topic/);
  });

  it('is named by a plan and counted by --resume failed', async () => {
    await mlld('journal', 'reject', 'job', PATH);
    const plan = JSON.parse(await shown('job.mld', '--plan', '--json')) as object;
    expect(plan).toMatchObject({ again: 1, functions: [{ reasons: { rejected: 1 }, examples: [{ preview: 'b', why: 'rejected' }] }] });
    expect(await shown('job.mld', '--plan')).toContain('1 again (rejected)');
    expect((await mlld('job.mld', '--resume', 'failed')).stderr).toContain('1 call has no result and will be executed; 1 result is reused');
  });

  it('reports what it marked as JSON, and takes it back', async () => {
    const rejected: unknown = JSON.parse(await shown('journal', 'reject', 'job', PATH, '--json'));
    expect(rejected).toMatchObject({ op: PATH, fn: 'ask', preview: 'b', marked: 'rejected', reason: null, isUsable: false });
    const { recordedIn } = rejected as { recordedIn: string };
    const [record, run] = await Promise.all([recordedIn, 'latest'].map(startOf));
    expect(record).toMatchObject({ host: run?.host, user: run?.user, argv: ['journal', 'reject', 'job', PATH, '--json'] });
    const restored: unknown = JSON.parse(await shown('journal', 'reject', 'job', PATH, '--undo', '--json'));
    expect(restored).toMatchObject({ op: PATH, marked: 'restored', isUsable: true });
    expect(await shown('job.mld', '--checkpoint')).toBe('1:a 1:b\n');
  });

  it('says when a newer result stays', async () => {
    await mlld('journal', 'reject', 'job', PATH);
    await mlld('job.mld', '--checkpoint');
    expect(await mlld('journal', 'reject', 'job', PATH, '--undo')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('replaced'),
    });
    expect(await shown('job.mld', '--checkpoint')).toBe('1:a 2:b\n');
  });

  it('does not offer the result to forks, and a fork rejects for itself alone', async () => {
    await mlld('journal', 'reject', 'job', PATH);
    expect(await shown('other.mld', '--fork', 'job')).toBe('1:a other:b\n');
    expect((await mlld('journal', 'reject', 'other', 'main/for#0[0]/ask#0', '--reason', 'dull')).status).toBe(0);
    expect(await shown('other.mld', '--fork', 'job')).toBe('other:a other:b\n');
    expect(await shown('journal', 'explain', 'other')).toContain('rejected');
    expect(await shown('checkpoint', 'list', 'job')).toContain('- ask | a\n');
  });

  it('does not offer it to a fork of a run before the mark, until the mark is taken back', async () => {
    await mlld('journal', 'reject', 'job', PATH);
    expect(await shown('other.mld', '--fork', 'job@latest')).toBe('1:a other:b\n');
    await mlld('journal', 'reject', 'job', PATH, '--undo');
    expect(await shown('other.mld', '--fork', 'job@latest')).toBe('1:a 1:b\n');
  });

  it.each([
    [['job', 'main/for#0[9]/ask#0'], 'the nearest: main/for#0[0]/ask#0'],
    [['job', 'main/for#0'], '2 calls lie in it'],
    [['job', 'main/for#0[0]'], '1 call lies in it'],
    [['job', PATH, '--undo'], 'not rejected'],
    [['job', PATH, '--undo', '--reason', 'x'], '--reason'],
    [['nobody', PATH], 'nobody'],
  ])('refuses %j', async (argv, message) => {
    expect(await mlld('journal', 'reject', ...argv)).toMatchObject({ status: 1, stderr: expect.stringContaining(message) });
  });

  it('names the run and the command for a call that the run did not make, inside of one whose result it reused', async () => {
    const nested = await projectFolder({
      'job.mld': 'exe llm @ask(q) = sh { echo "$q" }\nexe llm @outer(q) = [\n  => @ask(@q)\n]\nshow @outer("a")\n',
    });
    const run = async (...argv: string[]) => callCli(argv, { cwd: nested });
    for (let times = 0; times < 2; times++) expect((await run('job.mld', '--checkpoint')).status).toBe(0);
    for (const undo of [[], ['--undo']]) {
      const { status, stderr } = await run('journal', 'reject', 'job', 'main/outer#0/ask#0', ...undo);
      expect(status).toBe(1);
      const command = /hint: run \S+ made that call: mlld (.*)$/m.exec(stderr)?.[1] ?? '';
      expect(await run(...command.replaceAll("'", '').split(' '))).toMatchObject({ status: 0, stderr: '' });
    }
  });

  it('says which results inside the call are reused: without them, rejecting a function that only makes calls changes nothing', async () => {
    const nested = await projectFolder({
      'job.mld': 'exe llm @ask(q) = sh { echo "$q" }\nexe llm @outer(q) = [\n  let @a = @ask(@q)\n  => @ask(`@a b`)\n]\nshow @outer("a")\n',
    });
    const run = async (...argv: string[]) => callCli(argv, { cwd: nested });
    await run('job.mld', '--checkpoint');
    expect((await run('journal', 'reject', 'job', 'main/outer#0')).stdout).toMatch(
      /executed again when a run next makes it\.\n2 results of calls inside it are reused, the first at main\/outer#0\/ask#0: reject/,
    );
    expect((await run('job.mld', '--checkpoint')).stderr).toContain('3 calls: 2 reused, 1 executed');
    const marked = await run('journal', 'reject', 'job', 'main/outer#0/ask#1', '--json');
    expect(JSON.parse(marked.stdout)).toMatchObject({ around: ['outer'], inside: null });
  });

  it('refuses a result that is rejected already', async () => {
    await mlld('journal', 'reject', 'job', PATH);
    expect(await mlld('journal', 'reject', 'job', PATH)).toMatchObject({ status: 1, stderr: expect.stringContaining('already') });
  });
});
