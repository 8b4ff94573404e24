/**
 * Serves HTTP on one address: the only file that knows Node's server. Requests and responses are plain data; a response may be a stream,
 * which is written no faster than it is read.
 *
 * HTTP-1 A client's input is limited before it is kept: head, body, time, number of connections.
 * HTTP-2 A stream waits until what was written has left; a client that disconnects ends it.
 * HTTP-3 A stream that fails cuts its connection: its client must not wait for the rest, nor take what it has for the whole.
 * HTTP-4 A response is kept while it is sent. A client that takes nothing of it for a while is cut off, so that what it asked for is freed.
 */
import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const HEADERS_MS_MAX = 10_000;
const REQUEST_MS_MAX = 60_000;
/** A client is cut off after once or twice this time, which is long: the system takes more only when a good part of what it has is sent. */
const UNREAD_MS_MAX = 60_000;
export const CONNECTIONS_MAX = 512;
/** So much of a body that is too large is read and ignored, so that its sender reads the response; then the connection is cut. */
const DROPPED_BYTES_MAX = 16 * 1024 * 1024;

export interface HttpRequest {
  readonly method: string;
  /** The path as it was sent, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string | undefined };
  /** Reads UTF-8; undefined when it is larger than `bytesMax`. */
  body(bytesMax: number): Promise<string | undefined>;
  /** Aborted when the client disconnects. */
  readonly gone: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
  /** Sent instead of a body. `write` resolves when the client is ready for more; the response ends with the stream. */
  readonly stream?: (write: (piece: string | Uint8Array) => Promise<void>) => Promise<void>;
}

export interface HttpListener {
  readonly port: number;
  /** Resolves when no client is connected any more. Responses in flight get `graceMs` to end. */
  close(graceMs: number): Promise<void>;
}

export interface HttpOptions {
  readonly host: string;
  /** 0 chooses any that is free. */
  readonly port: number;
  /** Must not reject. */
  readonly respond: (request: HttpRequest) => Promise<HttpResponse>;
  /** Called with the reason for which a stream broke off. */
  readonly onBroken: (error: unknown) => void;
  /** A client has to take more of a response that is all there in this time (HTTP-4). */
  readonly unreadMsMax?: number;
}

/** @throws the system's error (`EADDRINUSE`, `EACCES`, `ENOTFOUND`, …) when the address can't be had */
export async function listen({ host, port, respond, onBroken, unreadMsMax = UNREAD_MS_MAX }: HttpOptions): Promise<HttpListener> {
  const server = createServer({ headersTimeout: HEADERS_MS_MAX, requestTimeout: REQUEST_MS_MAX }, (incoming, response) => {
    void serve(incoming, response, { respond, onBroken, unreadMsMax });
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

type Handlers = Required<Pick<HttpOptions, 'respond' | 'onBroken' | 'unreadMsMax'>>;

async function serve(incoming: IncomingMessage, response: ServerResponse, { respond, onBroken, unreadMsMax }: Handlers): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  response.on('error', () => undefined); // `close` follows
  const { status, headers, body = '', stream } = await respond(requestOf(incoming, gone.signal));
  if (gone.signal.aborted) return;
  response.writeHead(status, STATUS_CODES[status], headers);
  if (stream) {
    response.flushHeaders();
    try {
      await stream((piece) => write(response, piece, gone.signal));
    } catch (error) {
      response.destroy(); // HTTP-3
      return onBroken(error);
    }
  }
  response.setTimeout(unreadMsMax, () => response.socket?.resetAndDestroy()); // HTTP-4: without a reset the system keeps its part
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

/** HTTP-2 */
async function write(response: ServerResponse, piece: string | Uint8Array, gone: AbortSignal): Promise<void> {
  if (gone.aborted || response.write(piece)) return;
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
