/**
 * Who may ask. Whoever may start a pipeline may run commands, so the doors are narrow:
 *
 * A1 On a loopback address the name in `Host` has to be one of this machine's own: a page from elsewhere whose name was rebound to
 *    127.0.0.1 says its own name.
 * A2 A page of another site changes nothing and reads nothing: its browser says whose it is.
 * A3 Everywhere else, and wherever there is a token, every request but those for the page itself has to bring it.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { HttpRequest } from '../world/http.js';
import { HttpError } from './http-error.js';

export interface Access {
  /** Where the server listens, as it was told. */
  readonly host: string;
  readonly token: string | undefined;
}

/** `[::1]`, `127.0.0.1` and its neighbours, `localhost`. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[?::1\]?)$/i.test(host);
}

/** @throws Refusal */
export function checkAccess({ method, headers }: HttpRequest, { host, token }: Access, asks: 'page' | 'data'): void {
  const { host: named = '', origin, authorization, 'sec-fetch-site': site } = headers;
  if (isLoopback(host) && !isLoopback(hostNameOf(named))) {
    throw new HttpError(403, 'HOST_REFUSED', `This server does not answer to the name "${named}"`, {
      hint: 'use http://127.0.0.1, or --host with a token',
    });
  }
  const isForeign = origin === undefined ? method !== 'GET' && site !== undefined && !OWN_SITES.has(site) : hostOf(origin) !== named;
  if (isForeign) {
    throw new HttpError(403, 'ORIGIN_REFUSED', `A page of ${origin ?? 'another site'} may not ask this server`, {
      hint: 'requests have to come from its own page, or from a program',
    });
  }
  if (token !== undefined && asks === 'data' && !isSame(bearerIn(authorization), token)) {
    throw new HttpError(401, 'TOKEN_REQUIRED', 'This server wants its token', {
      headers: { 'www-authenticate': 'Bearer' },
      hint: 'send the header Authorization: Bearer TOKEN',
    });
  }
}

/** The name of the scheme has no case, as RFC 9110 section 11.1 has it. */
function bearerIn(authorization = ''): string {
  return /^bearer +(.*)$/i.exec(authorization)?.[1] ?? '';
}

const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/** Without the port, which whoever forwards may change. */
function hostNameOf(named: string): string {
  return named.replace(/:\d+$/, '');
}

/** `http://127.0.0.1:7411` and its port; undefined for `null` and what is no origin. */
function hostOf(origin: string): string | undefined {
  return /^https?:\/\/(?<host>[^/]+)$/.exec(origin)?.groups?.['host'];
}

/** Takes as long for a wrong guess as for a nearly right one. */
function isSame(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
