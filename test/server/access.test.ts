/** A server checks names, origins and tokens of requests, their limits, and its own address. */
import http from 'node:http';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkAccess, isLoopback } from '../../src/server/access.js';
import type { HttpRequest } from '../../src/world/http.js';
import { runCli, projectFolder } from '../support/cli.js';
import { serve, type Served } from '../support/served.js';
import { QUICK } from './pipelines.js';

const TOKEN = 'a-token-of-some-length';

/** `fetch` says the true name of the host, and so does not do. */
function raw(url: string, options: http.RequestOptions, body = ''): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, options, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => void (text += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on('error', reject);
    request.end(body);
  });
}

describe('without a token', () => {
  let served: Served;
  beforeAll(async () => void (served = await serve()));
  afterAll(() => served?.end('SIGKILL'));

  it.each(['rebound.example', 'rebound.example:80', '127.0.0.1.example', 'localhost.example', '[::2]', '10.0.0.1'])(
    'refuses the host name "%s"',
    async (host) => {
      for (const path of ['/pipelines', '/', '/page.js']) {
        const { status, text } = await raw(served.url + path, { headers: { host } });
        expect([status, text]).toEqual([403, expect.stringContaining('HOST_REFUSED')]);
      }
    },
  );

  it.each(['127.0.0.1', 'localhost:9000', '[::1]:1', 'LOCALHOST'])('accepts the host name "%s"', async (host) => {
    expect((await raw(`${served.url}/pipelines`, { headers: { host } })).status).toBe(200);
  });

  it.each([
    { origin: 'http://elsewhere.example' },
    { origin: 'null' },
    { origin: 'http://localhost:1' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('changes nothing for a page of another site: %j', async (headers) => {
    const before = (await served.get('/pipelines')).text;
    const post = { method: 'POST', headers: { ...headers, 'content-type': 'text/plain' } };
    const { status, text } = await raw(`${served.url}/pipelines`, post, JSON.stringify({ dot: QUICK }));
    expect([status, text]).toEqual([403, expect.stringContaining('ORIGIN_REFUSED')]);
    expect((await served.get('/pipelines')).text).toBe(before);
  });

  it('lets no page of another site read', async () => {
    const { status, headers } = await served.get('/pipelines', { origin: 'http://elsewhere.example' });
    expect(status).toBe(403);
    expect(headers.get('access-control-allow-origin')).toBeNull();
    const own = await served.get('/pipelines', { origin: served.url });
    expect([own.status, own.headers.get('cross-origin-resource-policy')]).toEqual([200, 'same-origin']);
    expect((await fetch(`${served.url}/pipelines`, { method: 'OPTIONS' })).status).toBe(405);
  });

  it('survives bytes that are not HTTP, and does not wait for ever for a request head', async () => {
    const { port } = new URL(served.url);
    const socket = net.connect(Number(port), '127.0.0.1');
    const ended = new Promise((resolve) => socket.on('close', resolve));
    socket.on('error', () => undefined);
    socket.resume();
    socket.write('\x16\x03\x01 no http\r\n\r\n');
    await ended;
    expect((await served.get('/pipelines')).status).toBe(200);
  });

  it('says that its address is taken', async () => {
    const { port } = new URL(served.url);
    const { status, stderr } = await runCli(['serve', '--port', port], { cwd: served.folder });
    expect(status).toBe(1);
    expect(stderr).toContain(`Can't listen at 127.0.0.1:${port}`);
    expect(stderr).toContain('--port 0');
  });
});

describe('with a token', () => {
  let served: Served;
  beforeAll(async () => void (served = await serve({ args: ['--host', '0.0.0.0'], env: { MLLD_SERVE_TOKEN: TOKEN } })));
  afterAll(() => served?.end('SIGKILL'));

  it.each([{}, { authorization: 'Bearer' }, { authorization: `Bearer ${TOKEN}x` }, { authorization: TOKEN }])(
    'tells nothing to who brings %j',
    async (headers) => {
      for (const path of ['/pipelines', '/pipelines/20260101-000000-000-aaaa', '/else']) {
        const { status, headers: answered, text } = await served.get(path, headers);
        expect([status, answered.get('www-authenticate')]).toEqual([401, 'Bearer']);
        expect(text).not.toContain(TOKEN);
      }
      expect((await served.post('/pipelines', { dot: QUICK }, headers)).status).toBe(401);
    },
  );

  it('accepts requests with it under any host name, and hides it from stages', async () => {
    const bearer = { authorization: `Bearer ${TOKEN}` };
    expect((await raw(`${served.url}/pipelines`, { headers: { ...bearer, host: 'box.example' } })).status).toBe(200);
    const dot = QUICK.replace('a [prompt="one"]', 'a [shape=parallelogram, tool_command="echo \\"<$MLLD_SERVE_TOKEN>\\""]');
    const { status, body } = await served.post('/pipelines', { dot }, bearer);
    expect(status).toBe(201);
    const { id } = body as { id: string };
    const output = async (): Promise<unknown> => {
      const answer = await served.get(`/pipelines/${id}/context`, bearer);
      return (answer.body as { context: { 'tool.output'?: string } }).context['tool.output'];
    };
    await expect.poll(output, { timeout: 50_000 }).toBe('<>');
  });

  it.each(['bearer', 'BEARER', 'bEaRer'])('takes the name of the scheme in any case: %s', async (scheme) => {
    expect((await served.get('/pipelines', { authorization: `${scheme} ${TOKEN}` })).status).toBe(200);
  });

  it('shows the page, which prompts for it', async () => {
    const { status, headers } = await served.get('/');
    expect([status, headers.get('content-security-policy')]).toEqual([200, expect.stringContaining("script-src 'self'")]);
  });
});

it('does not listen to other machines without a token', async () => {
  const cwd = await projectFolder();
  for (const env of [{}, { MLLD_SERVE_TOKEN: '' }]) {
    const { status, stderr } = await runCli(['serve', '--host', '0.0.0.0', '--port', '0'], { cwd, env });
    expect([status, stderr]).toEqual([1, expect.stringContaining('set MLLD_SERVE_TOKEN')]);
  }
});

it('listens to others only with a token that is not guessed', async () => {
  const cwd = await projectFolder();
  const env = { MLLD_SERVE_TOKEN: 'x'.repeat(15) };
  const { status, stderr } = await runCli(['serve', '--host', '0.0.0.0', '--port', '0'], { cwd, env });
  expect([status, stderr]).toEqual([1, expect.stringContaining('has 15 characters')]);
  expect(stderr).toContain('openssl rand -hex 32');
  const here = await serve({ env });
  expect((await here.get('/pipelines', { authorization: `Bearer ${env.MLLD_SERVE_TOKEN}` })).status).toBe(200);
  await here.end('SIGKILL');
});

it('knows which addresses are this machine alone', () => {
  expect(['127.0.0.1', '127.9.9.9', 'localhost', '::1', '[::1]'].every(isLoopback)).toBe(true);
  expect(['0.0.0.0', '::', '127.0.0.1.example', 'localhost.example', '10.0.0.1', ''].some(isLoopback)).toBe(false);
});

it('recognises a foreign origin also behind TLS', () => {
  const request = { method: 'POST', headers: { host: 'box.example', origin: 'https://box.example' } } as unknown as HttpRequest;
  expect(() => checkAccess(request, { host: '0.0.0.0', tokens: [] }, 'data')).not.toThrow();
});
