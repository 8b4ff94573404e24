/**
 * SIGKILL while a provider answers attempts: what they were charged is not known, and no report takes it for nothing. calls.md 10.5 and 18.
 */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { projectFolder, runCli, startCli } from '../support/cli.js';

const SCRIPT = `
exe llm @ask(q) = node {
  const reply = await fetch(process.env.PROVIDER + "/" + q);
  const { text, usd } = await reply.json();
  mlld.usage({ model: "m", outputTokens: usd * 100, costUsd: usd });
  if (!reply.ok) throw Object.assign(new Error(text), { status: reply.status });
  return text;
} with { retries: 3 }
var @all = for parallel(4) @q in ["answered", "charged-then-cut", "free-then-cut", "cut"] => @ask(@q)
show @all
`;

/** Answers what begins with another word than `cut` at once; what is cut never gets an answer. */
async function providerOf(): Promise<{ readonly url: string; readonly inFlight: () => number }> {
  const asked = new Map<string, number>();
  let inFlight = 0;
  const server = http.createServer(({ url = '' }, response) => {
    const nth = (asked.get(url) ?? 0) + 1;
    asked.set(url, nth);
    const answer = (status: number, usd: number): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ text: url, usd }));
    };
    if (url === '/answered') answer(200, 0.25);
    else if (url === '/charged-then-cut' && nth === 1) answer(529, 0.5);
    else if (url === '/free-then-cut' && nth === 1) answer(529, 0);
    else inFlight += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, inFlight: () => inFlight };
}

it('tells the cost of attempts that a kill cut off as unknown, in every report', { timeout: 60_000 }, async () => {
  const provider = await providerOf();
  const cwd = await projectFolder({ 'job.mld': SCRIPT });
  const child = startCli(['job.mld', '--checkpoint'], { cwd, env: { PROVIDER: provider.url } });
  child.stdin.end();
  await expect.poll(provider.inFlight, { timeout: 30_000 }).toBe(3);
  child.kill('SIGKILL');
  await once(child, 'close');

  const journal = async (...argv: string[]): Promise<string> => {
    const { stdout, stderr, status } = await runCli(['journal', ...argv], { cwd });
    expect({ argv, stderr, status }).toEqual({ argv, stderr: '', status: 0 });
    return stdout;
  };
  expect(await journal('list')).toContain('$0.75 + 3 unpriced');
  expect(JSON.parse(await journal('list', '--json'))).toMatchObject([
    { status: 'crashed', executed: 1, failed: 0, attempts: 6, costUsd: 0.75, unpriced: 3 },
  ]);
  expect(await journal('stats')).toContain('cost $0.75 + 3 unpriced');
  expect(await journal('audit', 'latest')).toContain('1 call executed, 0 reused, 0 failed, 3 unfinished');
  expect(await journal('diff', 'latest', 'latest')).toContain('$0.75 + 3 unpriced');
  const postmortem = await journal('postmortem', 'latest');
  expect(postmortem).toContain('  cost at least $0.75; the cost of 3 attempts is not known');
  const rows = (await journal('export', 'latest', '--format', 'csv'))
    .trim()
    .split('\r\n')
    .map((line) => line.split(','));
  const [head = []] = rows;
  const cells = rows.slice(1).map((row) => ['argument', 'outcome', 'costUsd', 'unpriced'].map((name) => row[head.indexOf(name)]));
  expect(cells).toEqual([
    ['answered', 'executed', '0.25', '0'],
    ['charged-then-cut', 'unfinished', '0.5', '1'],
    ['free-then-cut', 'unfinished', '', '1'],
    ['cut', 'unfinished', '', '1'],
  ]);
  const spans = await journal('export', 'latest', '--format', 'otlp-json');
  expect(spans.match(/"mlld\.call\.unpriced","value":\{"intValue":"1"\}/g)).toHaveLength(3);
  expect(spans).not.toContain('"mlld.call.cost_usd","value":{"intValue":"0"}');
});
