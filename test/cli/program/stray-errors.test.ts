/**
 * Code of a script that fails where nothing waits for it ends the run in order: nothing paid is lost, and the message is text like any
 * other.
 */
import { expect, it } from 'vitest';
import { projectFolder, runCli } from '../../support/cli.js';

const TOKEN = 'sk-live-ABCDEFGH-12345678';
const BODIES = [
  ['a promise', 'Promise.reject(new Error("with \\u001b[31m" + t)); await new Promise((r) => setTimeout(r, 3000))'],
  ['a timer', 'setTimeout(() => { throw new Error("with \\u001b[31m" + t) }, 5); await new Promise((r) => setTimeout(r, 3000))'],
] as const;

it.each(BODIES)('tells of %s, without its secrets and escape sequences', async (_, body) => {
  const cwd = await projectFolder({
    'token.txt': TOKEN,
    'job.mld': `var secret @token = <token.txt>
exe llm @ask(q) = js { return "paid" }
exe @stray(t) = js { ${body}; return 1 }
show @ask("a")
show @stray(@token)
show @ask("b")
`,
  });
  const { stdout, stderr, status } = await runCli(['job.mld', '--checkpoint'], { cwd });
  expect([stdout, status]).toEqual(['paid\n', 1]);
  expect(stderr).toContain('Error: Code of the script failed where nothing waited for it: with \\u001b[31m[secret]\n');
  expect(stderr).toContain('next: mlld job.mld --resume');
  expect(stderr).not.toMatch(/ABCDEFGH|\u001B|node:|code.cjs/);
  expect((await runCli(['journal', 'list'], { cwd })).stdout).toContain('interrupted');
});

it('fails a pipeline in order, too', async () => {
  const cwd = await projectFolder({
    'm.mld': `exe llm @model(prompt, node, context) = js { Promise.reject(new Error("lost")); await new Promise((r) => setTimeout(r, 3000)); return "x" }\n`,
    'p.dot': `digraph p {
  start [shape=Mdiamond]
  exit [shape=Msquare]
  a [prompt="A"]
  start -> a -> exit
}
`,
  });
  const { stderr, status } = await runCli(['run', 'p.dot', '--backend', 'exe:m.mld#model'], { cwd });
  expect(status).toBe(1);
  expect(stderr).toContain('failed where nothing waited for it: lost');
  expect((await runCli(['journal', 'list'], { cwd })).stdout).toContain('interrupted');
});

it.runIf(process.platform === 'linux')('keeps a secret out of the list of processes', async () => {
  const cwd = await projectFolder({
    'token.txt': TOKEN,
    'job.mld': `var secret @token = <token.txt>
exe @seen(t) = cmd { printf %s "@t" | wc -c\ncat "/proc/$$/cmdline" }
show @seen(@token)
show @seen("harmless")
`,
  });
  const { stdout } = await runCli(['job.mld'], { cwd });
  expect(stdout).toContain(`${TOKEN.length}\n`);
  expect(stdout).toContain('harmless');
  expect(stdout).not.toContain('ABCDEFGH');
});
