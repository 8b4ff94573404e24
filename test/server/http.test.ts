/** The wrapper of Node's server streams at the pace of the reader and limits requests. */
import http from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { listen, type HttpResponse, type HttpListener, type HttpRequest } from '../../src/world/http.js';

const CHUNK = 'x'.repeat(64 * 1024);
const CHUNKS = 1000;

let listener: HttpListener | undefined;
const broken: unknown[] = [];
afterEach(() => listener?.close(0));

async function answering(answer: (request: HttpRequest) => Promise<HttpResponse>, limits: { unreadMsMax?: number } = {}): Promise<string> {
  listener = await listen({ host: '127.0.0.1', port: 0, respond: answer, onBroken: (error) => broken.push(error), ...limits });
  return `http://127.0.0.1:${listener.port}/`;
}

/** The response as it is when its head is there; nothing is read of it. */
function open(url: string): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => http.get(url, resolve).on('error', reject));
}

function streaming(): { readonly answer: () => Promise<HttpResponse>; written(): number; readonly ended: Promise<void> } {
  let written = 0;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const stream = async (write: (text: string) => Promise<void>): Promise<void> => {
    for (; written < CHUNKS; written++) await write(CHUNK);
    end();
  };
  return { answer: async () => ({ status: 200, stream }), written: () => written, ended };
}

/**
 * Resolves with the count when it has not changed for many rounds of the event loop that both ends share: a busy machine makes the rounds
 * longer, not fewer.
 */
async function standing(count: () => number): Promise<number> {
  let last = count();
  for (let turns = 0; turns < 1000; turns++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (count() !== last) [last, turns] = [count(), 0];
  }
  return last;
}

it('writes a stream no faster than it is read', async () => {
  const { answer, written } = streaming();
  const response = await open(await answering(answer));
  const before = await standing(written);
  expect(before).toBeLessThan(CHUNKS / 4);
  expect(await standing(written)).toBe(before);
  let bytes = 0;
  for await (const chunk of response) bytes += (chunk as Buffer).length;
  expect(bytes).toBe(CHUNKS * CHUNK.length);
});

it('ends a stream whose reader went away', async () => {
  const { answer, written, ended } = streaming();
  const response = await open(await answering(answer));
  await standing(written);
  response.destroy();
  await ended;
});

it('cuts the connection of a stream that fails, so that its reader does not take it for whole', async () => {
  const failure = new Error('the store is away');
  const stream = async (write: (text: string) => Promise<void>): Promise<void> => {
    await write('the beginning');
    throw failure;
  };
  const response = await fetch(await answering(async () => ({ status: 200, stream })));
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow('terminated');
  expect(broken).toEqual([failure]);
});

it('keeps no more of a body than it may have, and its sender learns so', async () => {
  const url = await answering(async ({ body }) => ({ status: (await body(1000)) === undefined ? 413 : 200 }));
  for (const [bytes, status] of [
    [1000, 200],
    [1001, 413],
    [10_000_000, 413],
  ] as const) {
    expect((await fetch(url, { method: 'POST', body: 'x'.repeat(bytes) })).status).toBe(status);
  }
});

it('cuts off a client that takes nothing of a large response', async () => {
  const gone = new Promise<void>((resolve) => {
    const url = answering(
      async (request) => {
        request.gone.addEventListener('abort', () => resolve());
        return { status: 200, body: CHUNK.repeat(CHUNKS) };
      },
      { unreadMsMax: 100 },
    );
    void url.then(open).then((response) => response.on('error', () => undefined));
  });
  await gone;
});

it('sends all of a large response to a client that takes it slowly', async () => {
  const response = await open(await answering(async () => ({ status: 200, body: CHUNK.repeat(CHUNKS / 4) }), { unreadMsMax: 1000 }));
  let bytes = 0;
  let chunks = 0;
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length;
    if (chunks++ % 4 === 0) await new Promise((resolve) => setTimeout(resolve, 40));
  }
  expect(bytes).toBe((CHUNKS / 4) * CHUNK.length);
});

it('ends responses in flight when it is closed', async () => {
  const url = await answering(async () => ({ status: 200, stream: () => new Promise(() => undefined) }));
  const response = await open(url);
  const gone = new Promise((resolve) => response.on('close', resolve));
  response.on('error', () => undefined);
  await listener?.close(50);
  await gone;
  await expect(open(url)).rejects.toThrow();
});
