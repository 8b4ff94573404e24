/** Sends HTTP requests for mlld itself: the only file outside of scripts that does. */

export interface PostRequest {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
  readonly timeoutMs: number;
}

export interface PostReply {
  readonly status: number;
  /** Names in small letters. */
  readonly headers: { readonly [name: string]: string };
  /** The beginning of the body. */
  readonly text: string;
}

const TEXT_UNITS_MAX = 10_000;

/** Follows no redirect, because headers with credentials are for the address that was given. Rejects where there was no whole exchange. */
export async function post({ url, headers, body, timeoutMs }: PostRequest): Promise<PostReply> {
  const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
  const text = await response.text();
  return { status: response.status, headers: Object.fromEntries(response.headers), text: text.slice(0, TEXT_UNITS_MAX) };
}

/** Resolves after a time that is not part of a run. */
export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
