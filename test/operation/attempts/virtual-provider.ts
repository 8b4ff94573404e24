/** A provider in virtual time, with limits that it need not announce and that change while it runs. The loopback provider is its twin. */
import type { PlannedAttempt } from './virtual-calls.js';

export interface ProviderLimits {
  /** Requests at once; more are rejected without a retry-after. */
  readonly concurrency?: number;
  /** Requests a second: a token bucket that holds one second of them. */
  readonly perSecond?: number;
  /** In a fixed window of a minute. */
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  /** `none`: the rejection of a rate does not say when to come again. */
  readonly retryAfter?: 'seconds' | 'ms' | 'none';
  /** Replies tell what is left of the window. */
  readonly tellsHeaders?: boolean;
  /** Beyond so many results nothing is accepted until the reset, which rejections tell. */
  readonly quota?: { readonly calls: number; readonly resetsInMs: number };
}

export interface ProviderOptions {
  readonly limits: ProviderLimits;
  /** From then on these hold as well; times are from the first request on. */
  readonly changes?: readonly (ProviderLimits & { readonly atMs: number })[];
  readonly latencyMs?: number;
  readonly tokens?: number;
  readonly random: () => number;
}

const WINDOW_MS = 60_000;
const REJECTION_MS = 50;

export class VirtualProvider {
  answered = 0;
  rejected = 0;
  private quotaRejections = 0;
  private firstMs: number | undefined;
  private readonly endsMs: number[] = [];
  private bucket: number | undefined;
  private bucketAtMs = 0;
  private window = { start: 0, requests: 0, tokens: 0 };
  private quota = { sinceMs: 0, calls: 0 };
  private readonly latencyMs: number;
  private readonly tokens: number;

  constructor(private readonly options: ProviderOptions) {
    this.latencyMs = options.latencyMs ?? 3_000;
    this.tokens = options.tokens ?? 1_000;
  }

  get rejectedShare(): number {
    return this.rejected / (this.answered + this.rejected + this.quotaRejections);
  }

  /** Returns how many results the limits of that time let through at most. */
  possible(fromMs: number, untilMs: number): number {
    const STEP_MS = 100;
    let possible = 0;
    for (let atMs = fromMs; atMs < untilMs; atMs += STEP_MS) possible += (this.ratePerSecond(atMs) * STEP_MS) / 1000;
    return possible;
  }

  request(nowMs: number): PlannedAttempt {
    this.firstMs ??= nowMs;
    const atMs = nowMs - this.firstMs;
    const limits = this.limitsAt(atMs);
    const refusal = this.refusal(limits, atMs);
    const headers = this.headers(limits, atMs);
    if (refusal) return { ms: REJECTION_MS, ...refusal, ...headers };
    this.answered++;
    const ms = Math.round(this.latencyMs * (0.6 + 0.8 * this.options.random())) - 1;
    this.endsMs.push(atMs + ms - 1);
    return { ms, usage: { model: 'm', costUsd: 0.01, inputTokens: this.tokens - 100, outputTokens: 100 }, ...this.headers(limits, atMs) };
  }

  private limitsAt(atMs: number): ProviderLimits {
    return (this.options.changes ?? []).reduce((now, change) => (atMs >= change.atMs ? { ...now, ...change } : now), this.options.limits);
  }

  private ratePerSecond(atMs: number): number {
    const { concurrency, perSecond, requestsPerMinute, tokensPerMinute } = this.limitsAt(atMs);
    return Math.min(
      concurrency === undefined ? Number.POSITIVE_INFINITY : concurrency / (this.latencyMs / 1000),
      perSecond ?? Number.POSITIVE_INFINITY,
      (requestsPerMinute ?? Number.POSITIVE_INFINITY) / 60,
      (tokensPerMinute ?? Number.POSITIVE_INFINITY) / this.tokens / 60,
    );
  }

  private refusal(limits: ProviderLimits, atMs: number): Partial<PlannedAttempt> | undefined {
    const { concurrency, perSecond, requestsPerMinute, tokensPerMinute, quota } = limits;
    if (quota) {
      if (atMs - this.quota.sinceMs >= quota.resetsInMs) this.quota = { sinceMs: atMs, calls: 0 };
      if (this.quota.calls >= quota.calls) {
        this.quotaRejections++;
        return { class: 'quota', resetsInMs: this.quota.sinceMs + quota.resetsInMs - atMs };
      }
    }
    if (concurrency !== undefined && this.endsMs.filter((endMs) => endMs > atMs).length >= concurrency) return this.rejects();
    if (perSecond !== undefined) {
      const size = Math.max(1, perSecond);
      this.bucket = Math.min(size, (this.bucket ?? size) + ((atMs - this.bucketAtMs) / 1000) * perSecond);
      this.bucketAtMs = atMs;
      if (this.bucket < 1) return this.rejects(limits, ((1 - this.bucket) / perSecond) * 1000);
    }
    const start = Math.floor(atMs / WINDOW_MS) * WINDOW_MS;
    if (this.window.start !== start) this.window = { start, requests: 0, tokens: 0 };
    if (
      this.window.requests >= (requestsPerMinute ?? Number.POSITIVE_INFINITY) ||
      this.window.tokens + this.tokens > (tokensPerMinute ?? Number.POSITIVE_INFINITY)
    )
      return this.rejects(limits, start + WINDOW_MS - atMs);
    if (this.bucket !== undefined) this.bucket--;
    this.window.requests++;
    this.window.tokens += this.tokens;
    this.quota.calls++;
    return undefined;
  }

  private rejects({ retryAfter = 'seconds' }: ProviderLimits = {}, afterMs?: number): Partial<PlannedAttempt> {
    this.rejected++;
    if (afterMs === undefined || retryAfter === 'none') return { class: 'rate-limit' };
    return { class: 'rate-limit', retryAfterMs: retryAfter === 'ms' ? Math.ceil(afterMs) : Math.max(1, Math.ceil(afterMs / 1000)) * 1000 };
  }

  private headers({ tellsHeaders, requestsPerMinute, tokensPerMinute }: ProviderLimits, atMs: number): Partial<PlannedAttempt> {
    if (!tellsHeaders) return {};
    const reset = `${Math.ceil((this.window.start + WINDOW_MS - atMs) / 1000)}s`;
    const of = (name: string, left: number): { readonly [header: string]: string } => ({
      [`x-ratelimit-remaining-${name}`]: String(Math.max(0, left)),
      [`x-ratelimit-reset-${name}`]: reset,
    });
    return {
      headers: {
        ...(requestsPerMinute === undefined ? {} : of('requests', requestsPerMinute - this.window.requests)),
        ...(tokensPerMinute === undefined ? {} : of('tokens', tokensPerMinute - this.window.tokens)),
      },
    };
  }
}
