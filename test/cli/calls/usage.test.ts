/** Usage of the calls of a run, as scripts and people see it. calls.md 7.5.4, 7.5.5 and 10.7. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

/** Prints what claude prints; `$1` is the session, `$2` the total cost in dollars, `$3` the reason of the stop. */
const CLAUDE = `#!/bin/sh
for last; do :; done
set -- $last
printf '{"type":"result","subtype":"success","is_error":false,"session_id":"%s","result":"R","total_cost_usd":%s,"stop_reason":"%s"}' "$1" "$2" "$3"
`;

async function projectWithClaude(script: string): Promise<{ cwd: string; env: { PATH: string } }> {
  const cwd = await projectFolder({ 'job.mld': script, 'bin/claude': CLAUDE });
  await fs.chmod(path.join(cwd, 'bin/claude'), 0o755);
  return { cwd, env: { PATH: `${path.join(cwd, 'bin')}:${process.env['PATH'] ?? ''}` } };
}

const FUNCTIONS = `exe llm @first(q) = cmd { claude -p "@q" } with { reply: "claude" }
exe llm @more(q, s) = cmd { claude -p --resume "@s" "@q" } with { reply: "claude" }
`;

it('knows what a session had cost when its call is reused, also in a later run', async () => {
  const script = (q: string): string =>
    `${FUNCTIONS}var @a = @first("s 0.5 end")\nvar @b = @more("${q}", @a.mx.session)\nshow \`@b.mx.cost @b.mx.usage.estimated\`\n`;
  const { cwd, env } = await projectWithClaude(script('s 0.75 end'));
  expect((await callCli(['job.mld', '--checkpoint'], { cwd, env })).stdout.trim()).toBe('0.25 null');
  await fs.writeFile(path.join(cwd, 'job.mld'), script('s 1.25 end'));
  expect((await callCli(['job.mld', '--checkpoint'], { cwd, env })).stdout.trim()).toBe('0.5 null');
});

it('warns once for each function whose replies were cut', async () => {
  const { cwd, env } = await projectWithClaude(
    `${FUNCTIONS}show @first("a 0.5 max_tokens")\nshow @first("b 0.5 max_tokens")\nshow @first("c 0.5 end_turn")\n`,
  );
  const { stderr } = await callCli(['job.mld', '--checkpoint'], { cwd, env });
  expect(stderr.match(/@first: a reply was cut at its limit of tokens/g)).toHaveLength(1);
});

it('counts calls that were not executed as failed', async () => {
  const script = `exe llm @ask(q) = sh { exit 3 } with { onFailure: "marker" }
exe llm @next(q) = sh { echo x } with { onFailure: "marker" }\nvar @n = @next(@ask("a"))\nshow \`@mx.usage.failed @mx.usage.calls @mx.usage.attempts\`\n`;
  const cwd = await projectFolder({ 'job.mld': script });
  expect((await callCli(['job.mld', '--checkpoint'], { cwd })).stdout).toBe('2 2 1\n');
  const replayed = await callCli(['journal', 'replay', 'latest', '--json'], { cwd });
  expect(JSON.parse(replayed.stdout)).toMatchObject({ verdict: 'same' });
});

it('takes a cost and tokens that no call can have for unknown, and says so, so that sums stay sums', async () => {
  const { cwd, env } = await projectWithClaude(`${FUNCTIONS}for @q in ["a 1e308 end", "b 1e308 end", "c 0.5 end"] => show @first(@q)\n`);
  const { status, stderr } = await callCli(['job.mld', '--checkpoint'], { cwd, env });
  expect({ status, warnings: stderr.match(/warning: .*/g) }).toEqual({
    status: 0,
    warnings: ['warning: @first: the reported costUsd is ignored: it is more than a call can cost ($1000000)'],
  });
  const { stdout } = await callCli(['journal', 'list', '--json'], { cwd });
  expect(JSON.parse(stdout)).toMatchObject([{ costUsd: 0.5, unpriced: 2 }]);
});

it('pauses at a used-up quota whose reset is at a moment of which no date can be made', async () => {
  const cwd = await projectFolder({
    'job.mld': 'exe llm @ask(q) = js { mlld.fail("quota", "none left", { resetsAt: 1e308 }) }\nshow @ask("a")\n',
  });
  const { status, stderr } = await callCli(['job.mld', '--checkpoint'], { cwd });
  expect(stderr).toContain('warning: @ask: the reported resetsAt is ignored: it is no moment in seconds since 1970');
  expect(status).toBe(5);
});
