/** Builds responses with the headers that all have in common. */
import type { HttpResponse } from '../world/http.js';

/** Keeps responses out of caches and other sites, and prevents browsers from guessing another type. */
const COMMON = {
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** A picture or text that a browser opens alone must load nothing and run nothing. */
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
