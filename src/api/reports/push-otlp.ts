/**
 * Sends a run to a collector: OTLP/HTTP with JSON bodies, in batches of bounded size.
 *
 * PUSH-1 A batch that the collector turns away for the moment (429, 502, 503, 504) or that did not arrive is sent again, after the wait
 *    that it asks for. Span ids are the same each time, so that a batch which arrived twice is one.
 * PUSH-2 Anything else that is no success ends the export with an error: nothing is left out in silence.
 */
import type { JournalStore } from '../../../journal/store.js';
import { retryAfterOf } from '../../calls/evidence/times.js';
import { MlldError } from '../../errors.js';
import { SecretRegistry } from '../../runtime/secrets/secret-registry.js';
import { hostDefaults } from '../../world/host-defaults.js';
import { post, wait, type PostReply } from '../../world/post.js';
import type { RunTarget } from '../run-target.js';
import { otlpBatches, type OtlpExportOptions } from './export.js';

export interface PushOptions extends OtlpExportOptions {
  /** The address of the collector: `http://localhost:4318`; `/v1/traces` is added where it has no path. */
  readonly endpoint: string;
  /** Such as an authorisation. */
  readonly headers?: { readonly [name: string]: string };
}

export interface Pushed {
  readonly spans: number;
  readonly requests: number;
  /** Spans that the collector did not take, with the reason that it gave. */
  readonly rejected: number;
  readonly message: string | null;
}

const TRIES_MAX = 6;
const TIMEOUT_MS = 30_000;
const FIRST_WAIT_MS = 500;
const WAIT_MS_MAX = 60_000;
const EXCERPT_UNITS_MAX = 200;
const FOR_THE_MOMENT: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Sends the spans of a run to a collector. Throws EXPORT_FAILED where it does not take them, RUN_UNKNOWN, and `JournalError` when the disk
 * fails.
 *
 * ```js
 * const { spans } = await pushOtlp(store, run, { endpoint: 'http://localhost:4318' });
 * ```
 */
export async function pushOtlp(store: JournalStore, run: RunTarget, { endpoint, headers, ...options }: PushOptions): Promise<Pushed> {
  const { url, authorization } = collectorAt(endpoint);
  const sent = { ...authorization, ...headers };
  const secrets = secretsIn(url, sent);
  let [spans, requests, rejected, message]: [number, number, number, string | null] = [0, 0, 0, null];
  for await (const batch of otlpBatches(store, run, options)) {
    const reply = await send(url, JSON.stringify(batch.document), sent, secrets);
    spans += batch.spans;
    requests += 1;
    const partial = partialSuccess(reply);
    rejected += partial.rejected;
    message ??= partial.message && secrets.hideParts(partial.message);
  }
  return { spans: spans - rejected, requests, rejected, message };
}

interface Collector {
  readonly url: string;
  readonly authorization: { readonly authorization?: string };
}

/** A name and a password in the address become a header, because no request takes them in an address. */
function collectorAt(endpoint: string): Collector {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new MlldError('EXPORT_FAILED', 'What --endpoint names is not the address of a collector', { hint: 'http://localhost:4318' });
  }
  if (url.pathname === '/') url.pathname = '/v1/traces';
  const [username, password] = [url.username, url.password].map(decoded) as [string, string];
  [url.username, url.password] = ['', ''];
  const credentials = Buffer.from(`${username}:${password}`).toString('base64');
  return { url: url.href, authorization: username === '' ? {} : { authorization: `Basic ${credentials}` } };
}

/** @throws MlldError EXPORT_FAILED */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new MlldError('EXPORT_FAILED', 'The name or the password in --endpoint has a % that is not followed by two hex digits', {
      hint: 'write % as %25',
    });
  }
}

/** A collector may repeat what it was sent, and the log of a build shows what is printed here. */
function secretsIn(url: string, headers: { readonly [name: string]: string }): SecretRegistry {
  const secrets = new SecretRegistry();
  for (const value of Object.values(headers)) {
    secrets.add(value);
    secrets.add(value.slice(value.indexOf(' ') + 1)); // without `Bearer`
    const [, basic] = /^basic +(.+)$/i.exec(value) ?? [];
    if (basic !== undefined)
      secrets.add(
        Buffer.from(basic, 'base64')
          .toString()
          .replace(/^[^:]*:/, ''),
      );
  }
  for (const value of new URL(url).searchParams.values()) secrets.add(value);
  return secrets;
}

/** PUSH-1 */
async function send(url: string, body: string, headers: PushOptions['headers'], secrets: SecretRegistry): Promise<PostReply> {
  for (let tried = 1; ; tried++) {
    const reply = await post({ url, body, timeoutMs: TIMEOUT_MS, headers: { 'content-type': 'application/json', ...headers } }).catch(
      (cause: unknown) => noExchange(cause),
    );
    if ('status' in reply && reply.status >= 200 && reply.status < 300) return reply;
    const isForTheMoment = !('status' in reply) || FOR_THE_MOMENT.has(reply.status);
    if (!isForTheMoment || tried === TRIES_MAX) throw refused(url, reply, tried, secrets);
    const asked = 'status' in reply ? retryAfterOf(reply.headers, hostDefaults().io.nowMs()) : undefined;
    await wait(Math.min(WAIT_MS_MAX, asked ?? FIRST_WAIT_MS * 2 ** (tried - 1)));
  }
}

interface NoExchange {
  readonly cause: unknown;
  readonly reason: string;
}

/** Node words a refused connection as "fetch failed", and says more in the cause. */
function noExchange(cause: unknown): NoExchange {
  const { message, cause: inner } = cause as Error;
  const { code, message: detail } = (inner ?? {}) as { readonly code?: string; readonly message?: string };
  return { cause, reason: code ?? detail ?? message };
}

function refused(url: string, reply: PostReply | NoExchange, tried: number, secrets: SecretRegistry): MlldError {
  const times = tried === 1 ? '' : ` (${tried} attempts)`;
  if (!('status' in reply)) {
    return new MlldError('EXPORT_FAILED', `The collector at ${shown(url)} can't be reached: ${secrets.hideParts(reply.reason)}${times}`, {
      hint: 'is it running, and does it take OTLP over HTTP (usually port 4318)?',
    });
  }
  const said = secrets.hideParts(reply.text).trim().slice(0, EXCERPT_UNITS_MAX);
  return new MlldError('EXPORT_FAILED', `The collector at ${shown(url)} refused the spans with status ${reply.status}${times}`, {
    hint: said === '' ? 'its reply is empty' : `it said: ${said}`,
  });
}

/** Without a user name, a password and a query, which may be secrets. */
function shown(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

function partialSuccess({ text }: PostReply): Pick<Pushed, 'rejected' | 'message'> {
  try {
    const { partialSuccess: partial } = JSON.parse(text) as {
      readonly partialSuccess?: { rejectedSpans?: unknown; errorMessage?: unknown };
    };
    const rejected = Number(partial?.rejectedSpans ?? 0);
    const message = partial?.errorMessage;
    return { rejected: rejected > 0 ? rejected : 0, message: typeof message === 'string' && message !== '' ? message : null };
  } catch {
    return { rejected: 0, message: null }; // an empty body, or one that is not JSON, says nothing about single spans
  }
}
