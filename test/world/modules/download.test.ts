/** Downloads, from a server of this process. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { download, refusal } from '../../../src/world/modules/download.js';

let server: Server;
let base: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    const { url = '' } = request;
    if (url === '/text') response.end('text');
    else if (url === '/large') response.end('x'.repeat(5000));
    else if (url === '/circle') response.writeHead(302, { location: '/circle' }).end();
    else if (url === '/twice') response.writeHead(301, { location: '/once' }).end();
    else if (url === '/once') response.writeHead(307, { location: 'text' }).end();
    else if (url === '/away') response.writeHead(302, { location: 'http://example.org/x' }).end();
    else if (url === '/file') response.writeHead(302, { location: 'file:///etc/hostname' }).end();
    else if (url === '/slow') response.write('x');
    else response.writeHead(404).end('nothing');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const fetched = async (path: string, timeMs = 20_000) => {
  const result = await download(`${base}${path}`, { timeMs, bytesMax: 4000 });
  return 'bytes' in result ? Buffer.from(result.bytes).toString('utf8') : result.problem;
};

describe('a download', () => {
  it.each([
    ['/text', 'text'],
    ['/twice', 'text'],
    ['/large', 'it is larger than 4000 bytes'],
    ['/circle', 'it redirects more than 5 times'],
    ['/away', 'it is not encrypted: use https'],
    ['/file', 'file is not supported: use https'],
    ['/none', 'the server answered 404 Not Found'],
  ])('%s: %s', async (path, result) => expect(await fetched(path)).toBe(result));

  it('ends at its time limit, also within the body', async () => {
    expect(await fetched('/slow', 100)).toBe('no complete response within 0.1 s');
  });

  it('says why there is no connection', async () => {
    const result = await download('http://127.0.0.1:1/x', { timeMs: 20_000, bytesMax: 10 });
    expect(result).toEqual({ problem: expect.stringMatching(/\S/) as string });
  });
});

it.each([
  ['https://example.org/a.mld', undefined],
  ['http://localhost:80/a', undefined],
  ['http://[::1]/a', undefined],
  ['http://127.0.0.1.example.org/a', 'it is not encrypted: use https'],
  ['http://example.org/a', 'it is not encrypted: use https'],
  ['ftp://example.org/a', 'ftp is not supported: use https'],
  ['https://me:pw@example.org/a', 'it holds a user name or password, which the lock would show'],
  ['a.mld', 'it is not an address'],
])('%s: %s', (address, problem) => expect(refusal(address)).toBe(problem));
