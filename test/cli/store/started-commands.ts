/** Commands that a test starts and does not wait for. */
import { afterEach } from 'vitest';
import { startCli, type CliProcess } from '../../support/cli.js';

export type StartCommand = (words: readonly string[], cwd: string, env: { readonly [name: string]: string }) => CliProcess;

/** Returns what starts a command without input. What still runs is killed after each test. `always` holds for all of them. */
export function commandsOfTests(always: { readonly [name: string]: string } = {}): StartCommand {
  const running: CliProcess[] = [];
  afterEach(() => {
    for (const child of running.splice(0)) child.kill('SIGKILL');
  });
  return (words, cwd, env) => {
    const child = startCli(words, { cwd, env: { ...always, ...env } });
    child.stdin.on('error', () => undefined);
    child.stdin.end();
    running.push(child);
    return child;
  };
}
