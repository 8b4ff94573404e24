/** A script that is really killed, twice: no answer that is recorded is asked for again, and WORKTREE-2. workflows-js.md 1 and 9.4. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';

const CLI = join(import.meta.dirname, '..', '..', 'dist', 'mlld.cjs');
const STUBS = join(import.meta.dirname, '..', 'conformance', 'stubs');
const COUNT = 8;
const SCRIPT = `export const meta = { name: 'job', description: 'x' }
return await parallel(Array.from({ length: ${COUNT} }, (_, n) => () => agent('look ' + n, { label: 'look ' + n, ...(n % 4 === 1 && { isolation: 'worktree' }) })))
`;

interface Fact {
  readonly type?: string;
  readonly event?: string;
  readonly op?: string;
  readonly name?: string;
  readonly prompt?: string;
}

/** A rule of the plan of a stand-in. */
const rule = (when: string, what: object): object => ({
  when,
  // oxlint-disable-next-line no-thenable -- the stand-ins call it so, and rules are never awaited
  then: what,
});

const factsOf = (file: string): readonly Fact[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Fact)
    : [];

it('asks for nothing again that was answered before it was killed', { timeout: 120_000 }, async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'mlld-killed-')));
  const git = (...words: string[]): string =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...words], { cwd: root, encoding: 'utf8' });
  const runs = join(root, '.mlld', 'journal', 'job.js', 'runs');
  const ledger = join(root, 'ledger.ndjson');
  const asked = (): readonly string[] => factsOf(ledger).flatMap(({ event, prompt }) => (event === 'start' && prompt ? [prompt] : []));
  const answered = (): ReadonlySet<string> => {
    const facts = (existsSync(runs) ? readdirSync(runs) : []).flatMap((name) => factsOf(join(runs, name)));
    const labels = new Map(facts.flatMap(({ type, op, name }) => (type === 'op.started' && op && name ? [[op, name]] : [])));
    return new Set(facts.flatMap(({ type, op }) => (type === 'call.completed' && op ? [labels.get(op) ?? ''] : [])));
  };
  const run = async (
    words: readonly string[],
    plan: object,
    killAt: number,
  ): Promise<{ readonly stdout: string; readonly stderr: string }> => {
    const child = spawn(process.execPath, [CLI, 'run', 'job.js', '--backend', 'claude', '--parallel', '4', ...words], {
      cwd: root,
      env: { ...process.env, PATH: `${STUBS}:${process.env['PATH']}`, STUB_PLAN: JSON.stringify(plan), STUB_LEDGER: ledger },
    });
    const said = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => (said.stdout += String(chunk)));
    child.stderr.on('data', (chunk) => (said.stderr += String(chunk)));
    const ended = new Promise((resolve) => child.on('close', resolve));
    while (killAt > 0 && child.exitCode === null && answered().size < killAt) await delay(20);
    if (killAt > 0) child.kill('SIGKILL');
    await ended;
    return said;
  };
  try {
    git('init', '-q');
    git('commit', '-q', '--allow-empty', '-m', 'x');
    git('worktree', 'add', '-q', '--detach', join(root, '.mlld', 'worktrees', 'mine'));
    git('worktree', 'lock', '--reason', 'mine', join(root, '.mlld', 'worktrees', 'mine'));
    writeFileSync(join(root, 'job.js'), SCRIPT);
    const hanging = (...ns: number[]): object => ({ match: ns.map((n) => rule(`look ${n}`, { do: 'hang' })) });
    await run([], hanging(1, 2), 2);
    // The kill comes while "look 1" hangs, and sometimes after "look 5" has got its worktree, too.
    expect(readdirSync(join(root, '.mlld', 'worktrees')).length).toBeGreaterThan(1);
    for (const [plan, killAt] of [
      [hanging(5), 5],
      [{}, 0],
    ] as const) {
      const before = answered();
      const already = asked().length;
      const { stdout, stderr } = await run(['--resume'], plan, killAt);
      const again = asked().slice(already);
      expect(again.filter((prompt) => before.has(prompt))).toEqual([]);
      if (killAt > 0) continue;
      expect({ stderr, results: JSON.parse(stdout) as unknown }).toMatchObject({
        results: Array.from({ length: COUNT }, (_, n) => `A:look ${n}`),
      });
    }
    expect(readdirSync(join(root, '.mlld', 'worktrees'))).toEqual(['mine']);
    const total = asked().length;
    await run(['--resume'], {}, 0);
    expect(asked()).toHaveLength(total);
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
});
