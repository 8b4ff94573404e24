/**
 * An HTTP server on one address: the one file that knows Node's. A request comes in as plain data, an answer goes out as plain data or
 * as a stream that is written no faster than it is read.
 *
 * H1  What a client sends is limited before it is kept: head, body, time, number of connections.
 * H2  A stream waits until what was written has left; a client that went away ends it.
 */
import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const HEADERS_MS_MAX = 10_000;
const REQUEST_MS_MAX = 60_000;
const CONNECTIONS_MAX = 512;
/** So much of a body that is too large is read and dropped, so that its sender reads the answer; then the line is cut. */
const DROPPED_BYTES_MAX = 16 * 1024 * 1024;

export interface HttpRequest {
  readonly method: string;
  /** As it was sent, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string | undefined };
  /** UTF-8; undefined when it is larger than `bytesMax`. */
  body(bytesMax: number): Promise<string | undefined>;
  /** Aborted when the client went away. */
  readonly gone: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
  /** Instead of a body. `write` resolves when the client is ready for more; the answer ends with the stream. */
  readonly stream?: (write: (content: string | Uint8Array) => Promise<void>) => Promise<void>;
}

export interface HttpListener {
  readonly port: number;
  /** Resolves when nobody is connected any more. Answers that are under way get `graceMs` to end. */
  close(graceMs: number): Promise<void>;
}

export interface HttpOptions {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Must not reject. */
  readonly answer: (request: HttpRequest) => Promise<HttpResponse>;
}

/** @throws the system's error (`EADDRINUSE`, `EACCES`, `ENOTFOUND`, …) when the address can't be had */
export async function listen({ host, port, answer }: HttpOptions): Promise<HttpListener> {
  const server = createServer({ headersTimeout: HEADERS_MS_MAX, requestTimeout: REQUEST_MS_MAX }, (incoming, response) => {
    void serve(incoming, response, answer);
  });
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port, // a TCP server has one
    close: (graceMs) => close(server, graceMs),
  };
}

async function serve(incoming: IncomingMessage, response: ServerResponse, answer: HttpOptions['answer']): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  response.on('error', () => undefined); // it closes, too
  const { status, headers, body = '', stream } = await answer(requestOf(incoming, gone.signal));
  if (gone.signal.aborted) return;
  response.writeHead(status, STATUS_CODES[status], headers);
  if (stream) {
    response.flushHeaders();
    await stream((content) => write(response, content, gone.signal));
  }
  response.end(body);
}

function requestOf(incoming: IncomingMessage, gone: AbortSignal): HttpRequest {
  const { method = 'GET', url = '/', headers } = incoming;
  const at = url.indexOf('?');
  const single = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value] as const);
  return {
    method,
    path: at < 0 ? url : url.slice(0, at),
    query: new URLSearchParams(at < 0 ? '' : url.slice(at + 1)),
    headers: Object.fromEntries(single),
    body: (bytesMax) => read(incoming, bytesMax),
    gone,
  };
}

async function read(incoming: IncomingMessage, bytesMax: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    bytes += (chunk as Buffer).length;
    if (bytes <= bytesMax) chunks.push(chunk as Buffer);
    else if (bytes > bytesMax + DROPPED_BYTES_MAX) break;
  }
  return bytes > bytesMax ? undefined : Buffer.concat(chunks).toString('utf8');
}

/** H2 */
async function write(response: ServerResponse, content: string | Uint8Array, gone: AbortSignal): Promise<void> {
  if (gone.aborted || response.write(content)) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.once('drain', done).once('close', done);
  });
}

async function close(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}
