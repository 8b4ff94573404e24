/** The class that an HTTP status or a provider's error code stands for. calls.md 4.3 and 4.4. */
import type { FailureClass } from '../failure.js';

const QUOTA_CODES: ReadonlySet<string> = new Set([
  'insufficient_quota',
  'credit_balance_exhausted',
  'billing_error',
  'usage_limit_reached',
  'usage_limit_exceeded',
  'enforced_spend_limit_reached',
  'quota_exceeded',
]);

const NETWORK_STATUSES: ReadonlySet<number> = new Set([408, 504, 522, 524]);
const OVERLOADED_STATUSES: ReadonlySet<number> = new Set([500, 502, 503, 529]);

const CODES: { readonly [code: string]: FailureClass } = {
  ECONNRESET: 'network',
  ECONNREFUSED: 'network',
  ENOTFOUND: 'network',
  EAI_AGAIN: 'network',
  EPIPE: 'network',
  ETIMEDOUT: 'network',
  EHOSTUNREACH: 'network',
  AbortError: 'timeout',
  TimeoutError: 'timeout',
  content_filter: 'content',
  content_policy_violation: 'content',
  rate_limit_error: 'rate-limit',
  rate_limit_exceeded: 'rate-limit',
  overloaded_error: 'overloaded',
  overloaded: 'overloaded',
  server_error: 'overloaded',
  api_error: 'overloaded',
  authentication_error: 'auth',
  permission_error: 'auth',
  invalid_api_key: 'auth',
};

/** Undefined for a status that is no failure. `codes` are the error's code and type, where the reply has them. */
export function classOfStatus(status: number, codes: readonly unknown[] = []): FailureClass | undefined {
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'quota';
  if (status === 429) return codes.some((code) => typeof code === 'string' && QUOTA_CODES.has(code)) ? 'quota' : 'rate-limit';
  if (NETWORK_STATUSES.has(status)) return 'network';
  if (OVERLOADED_STATUSES.has(status)) return 'overloaded';
  return status >= 400 && status < 500 ? 'crash' : undefined;
}

/** Undefined for a code that says nothing about the class. */
export function classOfCode(code: unknown): FailureClass | undefined {
  if (typeof code !== 'string') return undefined;
  if (QUOTA_CODES.has(code)) return 'quota';
  if (/^UND_ERR_\w/.test(code)) return 'network';
  return Object.hasOwn(CODES, code) ? CODES[code] : undefined;
}

/** The first code that decides; else the status. A code is the more exact of the two. */
export function classOfError(status: number | undefined, codes: readonly unknown[]): FailureClass | undefined {
  for (const code of codes) {
    const known = classOfCode(code);
    if (known !== undefined) return known;
  }
  return status === undefined ? undefined : classOfStatus(status, codes);
}
