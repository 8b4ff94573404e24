/**
 * Decides which requests are allowed. A client that may start a pipeline may run commands, so access is narrow:
 *
 * ACCESS-1 On a loopback address the name in `Host` has to be a loopback name: a foreign page whose name was rebound to 127.0.0.1 sends its
 *          own name.
 * ACCESS-2 A page of another site may change and read nothing: its browser sends the origin.
 * ACCESS-3 On other addresses, and wherever a token is set, every request except for the page itself needs a token.
 * ACCESS-4 A token has a role. Who reads sees everything, and can neither start, answer, resume nor cancel a run. Without tokens everybody
 *          who gets here may run.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { HttpRequest } from '../world/http.js';
import { HttpError } from './http-error.js';

export type Role = 'read' | 'run';

export interface AccessToken {
  readonly role: Role;
  readonly token: string;
}

export interface Access {
  /** The address that the server listens at, as it was configured. */
  readonly host: string;
  /** None: everybody who passes the other checks may run. */
  readonly tokens: readonly AccessToken[];
}

/** Returns true for `localhost`, `127.x.x.x` and `[::1]`. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[?::1\]?)$/i.test(host);
}

/**
 * Returns the role of the client.
 *
 * @throws HttpError HOST_REFUSED, ORIGIN_REFUSED, TOKEN_REQUIRED
 */
export function checkAccess({ method, headers }: HttpRequest, { host, tokens }: Access, target: 'page' | 'data'): Role {
  const { host: named = '', origin, authorization, 'sec-fetch-site': site } = headers;
  if (isLoopback(host) && !isLoopback(hostNameOf(named))) {
    throw new HttpError(403, 'HOST_REFUSED', `Requests to the host name "${named}" are refused`, {
      hint: 'use http://127.0.0.1, or start the server with --host and a token',
    });
  }
  const isForeign = origin === undefined ? method !== 'GET' && site !== undefined && !OWN_SITES.has(site) : hostOf(origin) !== named;
  if (isForeign) {
    throw new HttpError(403, 'ORIGIN_REFUSED', `Requests from a page of ${origin ?? 'another site'} are refused`, {
      hint: "use the server's own page, or a program",
    });
  }
  if (target === 'page') return 'read';
  if (tokens.length === 0) return 'run';
  const role = roleOf(bearerIn(authorization), tokens);
  if (role !== undefined) return role;
  throw new HttpError(401, 'TOKEN_REQUIRED', 'The request has no valid token', {
    headers: { 'www-authenticate': 'Bearer' },
    hint: 'send the header Authorization: Bearer TOKEN',
  });
}

/** ACCESS-4. @throws HttpError ROLE_REFUSED */
export function requireRole(role: Role, needed: Role): void {
  if (needed === 'read' || role === 'run') return;
  throw new HttpError(403, 'ROLE_REFUSED', 'This token may only read', {
    hint: 'starting, answering, resuming and cancelling need a token with the role run',
  });
}

/** Compares with every token, so that the duration does not say which one it was. */
function roleOf(sent: string, tokens: readonly AccessToken[]): Role | undefined {
  const [found] = tokens.filter(({ token }) => isSame(sent, token)).toSorted((one) => (one.role === 'run' ? -1 : 1));
  return found?.role;
}

/** The scheme's name is case-insensitive, by RFC 9110 section 11.1. */
function bearerIn(authorization = ''): string {
  return /^bearer +(.*)$/i.exec(authorization)?.[1] ?? '';
}

const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/** Drops the port, because a forwarding proxy may change it. */
function hostNameOf(named: string): string {
  return named.replace(/:\d+$/, '');
}

/** Returns `127.0.0.1:7411` for `http://127.0.0.1:7411`; undefined for `null` and anything that is not an origin. */
function hostOf(origin: string): string | undefined {
  return /^https?:\/\/(?<host>[^/]+)$/.exec(origin)?.groups?.['host'];
}

/** Compares in constant time, so that the duration tells nothing about the token. */
function isSame(sent: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(sent), digest(expected));
}
