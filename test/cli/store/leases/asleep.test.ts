/** A process that is stopped for longer than its lease, as a laptop that sleeps does it: its commands are its own. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { makeDatabase, noServer } from '../../../journal/postgres/database.js';
import { projectFolder, resultOf, runCli, startCli } from '../../../support/cli.js';
import { processList } from '../../../support/process-list.js';

const AGENT = 'echo $$ >> pids; if [ -e second ]; then echo ebb; else exec sleep 120; fi';
const FILES = {
  'agent.sh': AGENT,
  'llm/run/job.mld': 'exe llm @agent(q) = cmd { sh agent.sh }\nshow @agent("a")\n',
  'mlld-config.json': '{}',
};
const PATIENCE = { timeout: 60_000, interval: 200 };

describe.skipIf(noServer !== undefined)(`a process that is stopped${noServer === undefined ? '' : ` (not run: ${noServer})`}`, () => {
  it('beyond its lease keeps its command, while another run makes its call', { timeout: 120_000 }, async () => {
    const database = await makeDatabase();
    const cwd = await projectFolder(FILES);
    const env = { MLLD_STORE: database.project(), MLLD_LEASE: '1s' };
    const agents = (): number[] =>
      existsSync(path.join(cwd, 'pids')) ? readFileSync(path.join(cwd, 'pids'), 'utf8').trim().split('\n').map(Number) : [];
    const lives = async (pid: number | undefined): Promise<boolean> => (await processList()).some((each) => each.pid === pid);
    const stopped = startCli(['run', 'job', '--checkpoint'], { cwd, env });
    const ended = resultOf(stopped);
    try {
      await vi.waitFor(() => expect(agents()).toHaveLength(1), PATIENCE);
      stopped.kill('SIGSTOP');
      await vi.waitFor(async () => expect((await runCli(['journal', 'list'], { cwd, env })).stdout).toContain('crashed'), PATIENCE);
      await runCli(['-e', 'output "x" to "second"'], { cwd });
      expect(await runCli(['run', 'job', '--checkpoint'], { cwd, env })).toMatchObject({ status: 0, stdout: 'ebb\n' });
      expect(agents()).toHaveLength(2);
      expect(await lives(agents()[0])).toBe(true);
      stopped.kill('SIGKILL');
      await ended;
    } finally {
      stopped.kill('SIGKILL');
      for (const agent of agents()) if (await lives(agent)) process.kill(agent, 'SIGKILL');
    }
  });

  it('is told when it is back which of its results were paid for in vain', { timeout: 120_000 }, async () => {
    const database = await makeDatabase();
    const cwd = await projectFolder({
      ...FILES,
      'agent.sh': 'echo x >> paid; if [ -e second ]; then echo ebb; else until [ -e go ]; do sleep 0.1; done; echo flow; fi',
    });
    const env = { MLLD_STORE: database.project(), MLLD_LEASE: '1s' };
    const paid = (): string => (existsSync(path.join(cwd, 'paid')) ? readFileSync(path.join(cwd, 'paid'), 'utf8') : '');
    const stopped = startCli(['run', 'job', '--checkpoint'], { cwd, env });
    const ended = resultOf(stopped);
    try {
      await vi.waitFor(() => expect(paid()).toBe('x\n'), PATIENCE);
      stopped.kill('SIGSTOP');
      await vi.waitFor(async () => expect((await runCli(['journal', 'list'], { cwd, env })).stdout).toContain('crashed'), PATIENCE);
      writeFileSync(path.join(cwd, 'second'), '');
      expect(await runCli(['run', 'job', '--checkpoint'], { cwd, env })).toMatchObject({ status: 0, stdout: 'ebb\n' });
      writeFileSync(path.join(cwd, 'go'), '');
      stopped.kill('SIGCONT');
      expect(await ended).toMatchObject({
        status: 0,
        stdout: 'ebb\n',
        stderr: expect.stringMatching(
          /^1 result paid for in vain: another run's result of the same call was recorded first and is used\n1 call: 1 executed/m,
        ),
      });
      expect(paid()).toBe('x\nx\n');
    } finally {
      stopped.kill('SIGKILL');
    }
  });
});
