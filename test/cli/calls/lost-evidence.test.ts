/** A report or reply counts also where it is hard to find, and a result is taken for no other thing. calls.md 7.2, 7.5.1, 9.3, 13.4. */
import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const CLAUDE = '{"type":"result","subtype":"success","is_error":false,"session_id":"s","result":"fine","total_cost_usd":0.01}';

it('takes the result out of a reply behind the warning of a program', async () => {
  const script = `exe llm @ask(q) = sh { echo 'Warning: no stdin data'; echo '${CLAUDE}' } with { reply: "claude" }\nvar @a = @ask("x")\nshow \`@a @a.mx.cost\`\n`;
  const cwd = await projectFolder({ 'job.mld': script });
  expect(await callCli(['job.mld', '--checkpoint'], { cwd })).toMatchObject({ status: 0, stdout: 'fine 0.01\n' });
});

it('takes a text that code returned for its result, also where it begins as an HTTP reply does', async () => {
  const script = `exe llm @ask(q) = js { return "HTTP/1.1 503 Service Unavailable\\n\\nis how it begins" }\nshow @ask("x")\n`;
  const cwd = await projectFolder({ 'job.mld': script });
  const { status, stdout } = await callCli(['job.mld', '--checkpoint'], { cwd });
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'HTTP/1.1 503 Service Unavailable\n\nis how it begins\n' });
});

it('stops at a quota that stands at the end of a report file which is too large', async () => {
  const script = `exe llm @ask(q) = sh {
  head -c 2000000 /dev/zero | tr '\\0' x > "$MLLD_CALL_REPORT"
  echo >> "$MLLD_CALL_REPORT"
  echo '{"fail":{"class":"quota","message":"all used"}}' >> "$MLLD_CALL_REPORT"
  echo half
}
show @ask("x")
`;
  const cwd = await projectFolder({ 'job.mld': script });
  const { status, stdout, stderr } = await callCli(['job.mld', '--checkpoint'], { cwd });
  expect({ status, stdout }).toEqual({ status: 5, stdout: '' });
  expect(stderr).toContain('warning: @ask: the report file of a call is larger than 1 MiB');
  expect(stderr).toContain('paused: quota in lane @ask: all used');
});

it('says what a budget does where no cost is known, and what helps', async () => {
  const script = `exe llm @ask(q) = sh { echo ok }\nvar @r = for parallel(5) @i in [1, 2, 3] => @ask(@i)\nshow @r.length\n`;
  const cwd = await projectFolder({ 'job.mld': script });
  const { status, stderr } = await callCli(['job.mld', '--budget', '1usd'], { cwd });
  expect(status).toBe(0);
  expect(stderr).toContain('one runs at a time until a cost is known (the option maxCost lets more run)');
  const strict = await callCli(['job.mld', '--budget', '1usd', '--budget-strict', '--checkpoint'], { cwd });
  expect(strict.status).toBe(5);
  expect(strict.stderr).toContain('hint: make its cost known');
  expect(strict.stderr).not.toContain('larger --budget');
});

it('reads the error in a list of one that code returned', async () => {
  const cwd = await projectFolder({
    'job.mld': `exe llm @ask(q) = js { return '[{"error":{"code":429,"message":"used up","status":"RESOURCE_EXHAUSTED"}}]' } with { retries: 0, onFailure: "marker" }
exe llm @fine(q) = js { return [{ error: null, n: 1 }] }
show \`@ask("x").class @fine("x")[0].n\`
`,
  });
  expect((await callCli(['job.mld'], { cwd })).stdout).toBe('rate-limit 1\n');
});
