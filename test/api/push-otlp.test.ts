import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Fact } from '../../journal/event.js';
import { openMemoryStore } from '../../journal/storage/memory-store.js';
import type { JournalStore } from '../../journal/store.js';
import { otlpBatches, pushOtlp } from '../../src/api/index.js';
import { call, finished, runRef, started } from '../support/written-runs.js';

interface Received {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly spans: readonly {
    readonly name: string;
    readonly spanId: string;
    readonly attributes: readonly { key: string; value: { stringValue?: string } }[];
  }[];
}

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

/** A collector that answers in turn; the last answer is repeated. */
async function collector(
  ...answers: readonly ((response: ServerResponse) => void)[]
): Promise<{ readonly endpoint: string; readonly received: Received[] }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { resourceSpans } = JSON.parse(Buffer.concat(pieces).toString()) as {
        resourceSpans: { scopeSpans: { spans: Received['spans'] }[] }[];
      };
      received.push({ path: request.url ?? '', headers: request.headers, spans: resourceSpans[0]!.scopeSpans[0]!.spans });
      answers[Math.min(received.length, answers.length) - 1]?.(response);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

const ok = (response: ServerResponse): void => void response.end('{}');
const status =
  (code: number, text = '', headers: { readonly [name: string]: string } = {}) =>
  (response: ServerResponse): void =>
    void response.writeHead(code, headers).end(text);

async function storeWith(...facts: readonly Fact[][]): Promise<JournalStore> {
  const store = openMemoryStore();
  const journal = await store.create(runRef(1));
  for (const fact of [started(runRef(1)), ...facts.flat(), finished()]) await journal.append(fact);
  await journal.close();
  return store;
}

describe('sending spans to a collector', () => {
  it('shows no credential that the collector repeats', async () => {
    const repeat = (response: ServerResponse): void => {
      const { authorization, 'x-api-key': key } = response.req.headers;
      response
        .writeHead(401)
        .end(`not ${String(authorization)}, not ${String(key).slice(0, 12)}, not ${response.req.url}, not hunter2pass`);
    };
    const { endpoint } = await collector(repeat);
    const store = await storeWith(call('main/ask#0', 'tide'));
    const headers = { 'x-api-key': 'key-of-the-collector-1234' };
    const error: unknown = await pushOtlp(store, runRef(1), {
      endpoint: `${endpoint.replace('://', '://ada:hunter2pass@')}/v1?token=tokenOfTheAddress`,
      headers,
    }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'EXPORT_FAILED', hint: expect.stringContaining('it said: not ') });
    expect(JSON.stringify([(error as Error).message, (error as { hint: string }).hint])).not.toMatch(
      /hunter2|key-of-the|tokenOfThe|YWRhOmh1bnRlcjJ/,
    );
  });

  it('refuses a password with a lone % without showing it', async () => {
    const endpoint = 'http://ada:hunter2%pass@127.0.0.1:1';
    const error: unknown = await pushOtlp(await storeWith(), runRef(1), { endpoint }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'EXPORT_FAILED', hint: 'write % as %25' });
    expect((error as Error).message).not.toContain('hunter2');
  });

  it('posts all spans with the headers that it is given, to the path of traces', async () => {
    const { endpoint, received } = await collector(ok);
    const pushed = await pushOtlp(await storeWith(call('main/ask#0', 'tide')), runRef(1), {
      endpoint,
      headers: { authorization: 'Bearer x' },
    });
    expect(pushed).toEqual({ spans: 3, requests: 1, rejected: 0, message: null });
    expect(received).toMatchObject([{ path: '/v1/traces', headers: { authorization: 'Bearer x', 'content-type': 'application/json' } }]);
    expect(received[0]?.spans.map(({ name }) => name)).toEqual(['invoke_workflow job', 'exe ask', 'chat ask']);
    expect(JSON.stringify(received)).not.toContain('tide');
    await pushOtlp(await storeWith(), runRef(1), { endpoint: `${endpoint}/otlp/v1/traces` });
    expect(received[1]?.path).toBe('/otlp/v1/traces');
  });

  it('adds arguments and results only when it is told to, and never what is sealed', async () => {
    const { endpoint, received } = await collector(ok);
    const sealed = call('main/ask#1', 'secret').map((fact): Fact =>
      fact.type === 'call.started'
        ? { ...fact, args: { sealed: 'c2VjcmV0', keyId: 'k' } }
        : fact.type === 'call.completed'
          ? { ...fact, result: { sealed: 'c2VjcmV0', keyId: 'k' } }
          : fact,
    );
    await pushOtlp(await storeWith(call('main/ask#0', 'ebb'), sealed), runRef(1), { endpoint, withContent: true });
    const [first, second] = received[0]!.spans.filter(({ name }) => name === 'chat ask');
    const messages = (span: Received['spans'][number] | undefined) =>
      span?.attributes.flatMap(({ key, value }) => (key.endsWith('.messages') ? [JSON.parse(value.stringValue ?? '') as unknown] : []));
    expect(messages(first)).toEqual([
      [{ role: 'user', parts: [{ type: 'text', content: 'ebb' }] }],
      [{ role: 'assistant', parts: [{ type: 'text', content: 'A:"ebb"' }], finish_reason: 'stop' }],
    ]);
    expect(messages(second)).toEqual([]);
  });

  it('sends a batch again that is turned away for the moment, after the wait that is asked for', async () => {
    const { endpoint, received } = await collector(
      status(429, '', { 'retry-after': '0.05' }),
      status(503, '', { 'retry-after': '0.05' }),
      ok,
    );
    const beganMs = performance.now();
    expect(await pushOtlp(await storeWith(), runRef(1), { endpoint })).toMatchObject({ spans: 1, requests: 1 });
    expect(performance.now() - beganMs).toBeGreaterThanOrEqual(90);
    expect(received.map(({ spans }) => spans.map(({ spanId }) => spanId))).toEqual(
      Array.from({ length: 3 }, () => [received[0]?.spans[0]?.spanId]),
    );
  });

  it('says at once what it was refused for, and does not show credentials of the address', async () => {
    const { endpoint, received } = await collector(status(401, 'no token'));
    const address = `${endpoint.replace('//', '//ada:pass@')}/v1/traces?key=hidden`;
    const plain = `${endpoint}/v1/traces?key=hidden`;
    await expect(pushOtlp(await storeWith(), runRef(1), { endpoint: plain })).rejects.toMatchObject({
      code: 'EXPORT_FAILED',
      message: `The collector at ${endpoint}/v1/traces refused the spans with status 401`,
      hint: 'it said: no token',
    });
    expect(received).toHaveLength(1);
    await expect(pushOtlp(await storeWith(), runRef(1), { endpoint: address })).rejects.toMatchObject({
      message: `The collector at ${endpoint}/v1/traces refused the spans with status 401`,
    });
    expect(received[1]?.headers.authorization).toBe(`Basic ${Buffer.from('ada:pass').toString('base64')}`);
    await expect(pushOtlp(await storeWith(), runRef(1), { endpoint: 'localhost:4318' })).rejects.toMatchObject({ code: 'EXPORT_FAILED' });
  });

  it('counts what the collector took only in part', async () => {
    const partial = status(200, '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}');
    const { endpoint } = await collector(partial);
    expect(await pushOtlp(await storeWith(call('main/ask#0', 'ebb')), runRef(1), { endpoint })).toEqual({
      spans: 2,
      requests: 1,
      rejected: 1,
      message: 'too old',
    });
  });

  it('is done in batches of bounded size, which together are the whole run', async () => {
    const calls = Array.from({ length: 600 }, (_, number) => call(`main/ask#${number}`, number));
    const store = await storeWith(...calls);
    const batches = [];
    for await (const { spans } of otlpBatches(store, runRef(1))) batches.push(spans);
    expect(batches).toEqual([512, 512, 177]);
    const large = await storeWith(...[0, 1, 2].map((number) => call(`main/ask#${number}`, `${number}`.repeat(800_000))));
    for await (const { document } of otlpBatches(large, runRef(1), { withContent: true }))
      expect(JSON.stringify(document).length).toBeLessThan(1_300_000);
  });
});
