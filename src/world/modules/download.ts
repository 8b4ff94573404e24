/**
 * Fetches a text over HTTPS. Only `mlld modules add` and `mlld modules outdated` do.
 *
 * DOWNLOAD-1 Everything is limited: the time of the whole, the bytes, the redirects.
 * DOWNLOAD-2 Plain HTTP goes to a loopback address only, and a redirect from HTTPS never leads to it.
 */

export interface DownloadLimits {
  readonly timeMs: number;
  readonly bytesMax: number;
}

export type Downloaded = { readonly bytes: Uint8Array; readonly address: string } | { readonly problem: string };

const REDIRECTS_MAX = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Never rejects: a `problem` is a part of a sentence. */
export async function download(address: string, { timeMs, bytesMax }: DownloadLimits): Promise<Downloaded> {
  const signal = AbortSignal.timeout(timeMs);
  try {
    let url = address;
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
      const refused = refusal(url);
      if (refused !== undefined) return { problem: refused };
      const response = await fetch(url, { redirect: 'manual', signal, headers: { accept: '*/*', 'user-agent': 'mlld' } });
      const next = REDIRECTS.has(response.status) ? response.headers.get('location') : null;
      if (next === null) return await bodyOf(response, url, bytesMax);
      await response.body?.cancel();
      const target = new URL(next, url).href;
      if (url.startsWith('https:') && !target.startsWith('https:')) return { problem: `it redirects from https to ${schemeOf(target)}` };
      url = target;
    }
    return { problem: `it redirects more than ${REDIRECTS_MAX} times` };
  } catch (error) {
    if (signal.aborted) return { problem: `no complete response within ${timeMs / 1000} s` };
    return { problem: reasonOf(error) };
  }
}

/** Says why an address is not fetched. */
export function refusal(address: string): string | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url) return 'it is not an address';
  if (url.username !== '' || url.password !== '') return 'it holds a user name or password, which the lock would show';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol !== 'http:') return `${schemeOf(address)} is not supported: use https`;
  return isLoopback(url.hostname) ? undefined : 'it is not encrypted: use https';
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function schemeOf(address: string): string {
  return address.slice(0, address.indexOf(':'));
}

async function bodyOf(response: Response, address: string, bytesMax: number): Promise<Downloaded> {
  if (response.status !== 200) {
    await response.body?.cancel();
    return { problem: `the server answered ${response.status} ${response.statusText}`.trimEnd() };
  }
  const pieces: Uint8Array[] = [];
  let size = 0;
  // The type of DOM streams is not iterable; that of Node is.
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += piece.length;
    if (size > bytesMax) return { problem: `it is larger than ${bytesMax} bytes` }; // leaving the loop cancels the stream
    pieces.push(piece);
  }
  return { bytes: Buffer.concat(pieces), address };
}

/** The message of `fetch` says only that it failed; the cause says why. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  const inner = cause instanceof Error ? (cause as NodeJS.ErrnoException) : undefined;
  return inner?.message || inner?.code || message;
}
