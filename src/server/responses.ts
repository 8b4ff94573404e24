/** What every answer has in common. */
import type { HttpResponse } from '../world/http.js';

/** Nothing here is for caches, for other sites, or to be taken for something that it isn't. */
const COMMON = {
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** A picture or a text of a user's that is opened alone asks for nothing and runs nothing. */
const INERT = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

export function jsonResponse(status: number, value: unknown, headers: { readonly [name: string]: string } = {}): HttpResponse {
  return textResponse(status, 'application/json; charset=utf-8', JSON.stringify(value), headers);
}

export function textResponse(
  status: number,
  type: string,
  body: string,
  headers: { readonly [name: string]: string } = {},
): HttpResponse & { readonly body: string } {
  const length = String(Buffer.byteLength(body));
  return {
    status,
    headers: { ...COMMON, 'content-security-policy': INERT, 'content-type': type, 'content-length': length, ...headers },
    body,
  };
}

export function streamResponse(stream: NonNullable<HttpResponse['stream']>): HttpResponse {
  return { status: 200, headers: { ...COMMON, 'content-type': 'text/event-stream; charset=utf-8' }, stream };
}

export function emptyResponse(status: number): HttpResponse {
  return { status, headers: COMMON };
}
