/** Filters that let nothing through. */
import { beforeAll, describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder, type CliResult } from '../../support/cli.js';

let cwd: string;
const journal = (...argv: string[]): Promise<CliResult> => callCli(['journal', ...argv], { cwd });

beforeAll(async () => {
  cwd = await projectFolder({ 'job.mld': 'exe llm @ask(q) = cmd { echo "answer to @q" }\nshow @ask("ebb")\n' });
  await callCli(['job.mld', '--checkpoint'], { cwd });
});

describe('a filter that nothing matches', () => {
  it.each([
    [['show', 'latest', '--type', 'cal'], /note: nothing in \S+ matches --type cal; did you mean call\?/],
    [['show', 'latest', '--type', 'retry'], /note: nothing in \S+ matches --type retry\n$/],
    [['show', 'latest', '--op', 'main/aks#0'], /matches --op main\/aks#0; did you mean main\/ask#0\?/],
    [['show', 'latest', '--type', 'run', '--op', 'main/ask#0'], /matches these filters\n$/],
    [['audit', 'latest', '--op', 'ask'], /matches --op ask; did you mean main\/ask#0\?/],
    [['audit', 'latest', '--label', 'lmm'], /matches --label lmm; did you mean llm\?/],
    [['audit', 'latest', '--to', '2001-01-01'], /matches these filters\n$/],
  ])('is told of, with the nearest name: %j', async (argv, note) => {
    const { status, stderr } = await journal(...argv);
    expect(status).toBe(0);
    expect(stderr).toMatch(note);
  });

  it('leaves what --json and --csv print as it is', async () => {
    const shown = await journal('show', 'latest', '--type', 'cal', '--json');
    expect(shown).toMatchObject({ stdout: '', status: 0 });
    const audited = await journal('audit', 'latest', '--label', 'lmm', '--json');
    expect(JSON.parse(audited.stdout)).toMatchObject({ entries: [], totals: { executed: 0 } });
    expect((await journal('audit', 'latest', '--op', 'ask', '--csv')).stdout.trim().split('\n')).toHaveLength(1);
  });

  it('is an error where content was to go', async () => {
    const { status, stdout, stderr } = await journal('redact', 'latest', '--op', 'main/aks#0');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('has no such operation, nothing was removed\n  hint: did you mean main/ask#0?');
    expect((await journal('show', 'latest', '--json')).stdout).toContain('answer to ebb');
  });
});

it('says nothing when a filter lets something through', async () => {
  for (const argv of [
    ['show', 'latest', '--type', 'call'],
    ['show', 'latest', '--op', 'main/ask#0'],
    ['audit', 'latest', '--label', 'llm'],
  ]) {
    const { stdout, stderr } = await journal(...argv);
    expect(stderr).toBe('');
    expect(stdout).toContain('ask');
  }
});
