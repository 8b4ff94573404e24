import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { projectFolder, runCli } from '../../support/cli.js';
import { recordRun } from '../../support/recorded-project.js';
import { call } from '../../support/written-runs.js';

const PROGRAM = fileURLToPath(new URL('../../../dist/mlld.cjs', import.meta.url));
const hasTerminals = spawnSync('script', ['--version']).status === 0;
const ESCAPE = '\u001B';

/** Runs the command on a terminal of its own and gives what the terminal was sent. */
function onTerminal(words: string, cwd: string, env: { readonly [name: string]: string } = {}, columns = 80, rows = 24): string {
  const { stdout } = spawnSync(
    'script',
    ['-qec', `stty cols ${columns} rows ${rows}; ${process.execPath} ${PROGRAM} ${words}`, '/dev/null'],
    {
      cwd,
      env: { PATH: process.env['PATH'] ?? '', HOME: cwd, TERM: 'xterm', ...env },
      encoding: 'utf8',
    },
  );
  return stdout;
}

describe.runIf(hasTerminals)('on a terminal', () => {
  it.each([
    [{}, true],
    [{ NO_COLOR: '1' }, false],
    [{ NO_COLOR: '' }, true],
    [{ TERM: 'dumb' }, false],
  ])('colours with %j: %s', async (env, coloured) => {
    const cwd = await projectFolder();
    await recordRun(cwd, 1, call('main/ask#0', 'ebb'));
    const shown = onTerminal('journal list', cwd, env);
    expect(shown).toContain('completed');
    expect(shown.includes(ESCAPE)).toBe(coloured);
  });

  it.each([80, 40])('fits reports into %i columns, and leaves them whole in a pipe', async (columns) => {
    const cwd = await projectFolder();
    await recordRun(cwd, 1, call('main/ask#0', 'the tide at the northern mole, and that at the southern one'), call('main/ask#1', 'flow'));
    for (const words of [
      'list',
      'show latest',
      'verify latest',
      'audit latest',
      'explain latest',
      'postmortem latest',
      'stats',
      'diff latest latest',
    ]) {
      const shown = onTerminal(`journal ${words}`, cwd, { NO_COLOR: '1' }, columns).replaceAll('\r', '');
      expect(shown).not.toBe('');
      expect(shown.split('\n').filter((line) => line.length > columns)).toEqual([]);
    }
    expect((await runCli(['journal', 'show', 'latest'], { cwd })).stdout).toMatch(/.{81}/);
  });

  it('shows what is longer than the terminal in the pager of the user, and all of it where there is none', async () => {
    const cwd = await projectFolder();
    await recordRun(cwd, 1, call('main/ask#0', 'ebb'), call('main/ask#1', 'flow'));
    const shown = (words: string, pager: string) => onTerminal(words, cwd, { NO_COLOR: '1', PAGER: pager }, 80, 4).replaceAll('\r', '');
    const whole = shown('journal show latest --no-pager', 'sed s/^/P:/');
    expect(whole).toMatch(/^ +0 /);
    expect(whole.split('\n').length).toBeGreaterThan(4);
    const paged = shown('journal show latest', 'sed s/^/P:/');
    expect(paged.replaceAll('P:', '')).toBe(whole);
    expect(paged.startsWith('P:')).toBe(true);
    expect(shown('journal show latest', 'head -1')).toBe(`${whole.split('\n')[0]}\n`);
    expect(shown('journal show latest', 'no-such-pager')).toContain(whole);
    expect(shown('journal show latest', 'cat')).toBe(whole);
    expect(shown('journal explain latest', 'sed s/^/P:/')).not.toContain('P:');
    expect(shown('journal cat latest nothing', 'sed s/^/P:/')).toMatch(/^Error: /);
  });

  it('lists the last 20 runs unless it is told otherwise', async () => {
    const cwd = await projectFolder();
    for (let run = 1; run <= 22; run += 1) await recordRun(cwd, run, call('main/ask#0', 'ebb'));
    const rows = (words: string) => onTerminal(`journal list ${words}`, cwd, { NO_COLOR: '1', PAGER: '' }, 200).match(/completed/g)?.length;
    expect(rows('')).toBe(20);
    expect(onTerminal('journal list', cwd, { PAGER: '' })).toContain('The latest 20 runs; --last 22 shows all.');
    expect(rows('--last 22')).toBe(22);
    expect((await runCli(['journal', 'list'], { cwd })).stdout.match(/completed/g)).toHaveLength(22);
  });

  it('shows progress while calls run, and nothing of it stays', async () => {
    const cwd = await projectFolder({
      'job.mld': 'exe llm @ask(q) = sh { sleep 0.3; echo "A:$q" }\nvar @a = for @i in ["a", "b", "c"] => @ask(@i)\nshow "done"\n',
    });
    const shown = onTerminal('job.mld --checkpoint', cwd);
    expect(shown).toMatch(/░ \d\/3 · .*\r\n\d executed\r\n/);
    // An erasure removes so many lines above it.
    let left: string[] = [];
    for (const line of shown.replaceAll('\r\n', '\n').split('\n')) {
      for (const [index, part] of line.split('\r').entries()) {
        const up = new RegExp(`^${ESCAPE}\\[(\\d+)A${ESCAPE}\\[J`).exec(part);
        if (index === 0) left.push(part);
        else left = [...left.slice(0, left.length - 1 - Number(up?.[1])), part.slice(up?.[0].length)];
      }
    }
    left = left.filter((line) => line !== '');
    expect(left).toEqual(['done', expect.stringMatching(/^3 calls: 3 executed, cost unknown, /)]);
  });
});
