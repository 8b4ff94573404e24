/** Parses where a team's store is: `postgres://ada@db.example/mlld?project=acme/patrol`. */
import { join } from 'node:path';
import { JournalError } from '../errors.js';

/** `off`: the connection isn't encrypted. `unverified`: it is, with any server that answers. `verified`: the server proves who it is. */
export type Tls = 'off' | 'unverified' | 'verified';

export interface StoreAddress {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  /** Undefined: the name of the user of this machine, as with other PostgreSQL programs. */
  readonly user: string | undefined;
  /** That of the address, or `PGPASSWORD`. Undefined: the one in the file of passwords. */
  readonly password: string | undefined;
  readonly passwordFile: string | undefined;
  readonly project: string;
  readonly tls: Tls;
  /** The file of certificates that the server's is verified with. */
  readonly certificates: string | undefined;
  /** The address without its password, for people. */
  readonly shown: string;
}

export interface AddressSettings {
  /** Takes the place of a project that the URL doesn't name. */
  readonly project?: string | undefined;
  readonly environment: { readonly [name: string]: string | undefined };
}

const PARAMETERS = new Set(['project', 'sslmode', 'sslrootcert', 'host']);
/** Those of other programs of PostgreSQL that people write into an address. */
const OTHER_PARAMETERS = new Set(
  'application_name connect_timeout dbname options passfile password port service ssl sslcert sslkey user'.split(' '),
);
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;
const MODES: { readonly [mode: string]: Tls } = {
  disable: 'off',
  'no-verify': 'unverified',
  prefer: 'verified',
  require: 'verified',
  'verify-ca': 'verified',
  'verify-full': 'verified',
};
/** Can't be used either, so that a program which wants the store says so. */
const HIDDEN = 'postgres://hidden';
const EXAMPLE = 'postgres://ada@db.example/mlld?project=acme/patrol';

/** Throws STORE_ADDRESS and STORE_PROJECT. No message has the password. */
export function parseStoreAddress(text: string, { project: configured, environment }: AddressSettings): StoreAddress {
  const url = parsed(text);
  const parameter = (name: string): string | undefined => url.searchParams.get(name) || undefined;
  const names = [...url.searchParams.keys()];
  // First: an address without a database was cut by a / or ? in its password, and the rest of that is a path or the name of a parameter.
  const database = decoded(url.pathname.slice(1));
  if (database === '' || database.includes('/')) throw badAddress('it names no database', EXAMPLE);
  if (url.pathname.includes('@')) throw badAddress('the name of its database has an @', 'write @ as %40, and / in a password as %2F');
  for (const name of names) {
    if (!PARAMETERS.has(name)) throw badAddress(`${quoted(name)} is not a parameter of it`, `it may have ${[...PARAMETERS].join(', ')}`);
    if (names.indexOf(name) !== names.lastIndexOf(name)) throw badAddress(`${name}= is there twice`, 'leave one of them out');
  }
  const host = parameter('host') ?? (decoded(url.hostname).replace(/^\[|\]$/g, '') || 'localhost');
  const project = parameter('project') ?? configured;
  if (project === undefined) {
    throw new JournalError('STORE_PROJECT', 'the address of the store names no project', {
      hint: 'add project= to it: projects of the same name would share their results',
    });
  }
  if (/\p{Cc}/u.test(project)) throw badAddress('the name of its project has a control character', EXAMPLE);
  const shown = new URL(url);
  shown.password = '';
  shown.searchParams.set('project', project);
  return {
    host,
    port: Number(url.port) || 5432,
    database,
    user: decoded(url.username) || environment['PGUSER'] || undefined,
    password: decoded(url.password) || environment['PGPASSWORD'] || undefined,
    passwordFile: passwordFileOf(environment),
    project,
    tls: tlsOf(host, parameter('sslmode') ?? environment['PGSSLMODE']),
    certificates: parameter('sslrootcert') ?? environment['PGSSLROOTCERT'],
    shown: shown.href.replaceAll('%2F', '/'),
  };
}

/** Returns where PostgreSQL programs look. Undefined where the environment says of no folder that it is the user's. */
export function passwordFileOf(environment: { readonly [name: string]: string | undefined }): string | undefined {
  const { PGPASSFILE: named, APPDATA: settings, HOME: home } = environment;
  if (named) return named;
  if (home) return join(home, '.pgpass');
  return settings ? join(settings, 'postgresql', 'pgpass.conf') : undefined;
}

/** Returns the address without its password. One that can't be used is hidden whole, because its password may be anywhere in it. */
export function withoutPassword(text: string): string {
  try {
    parseStoreAddress(text, { project: 'any', environment: {} });
  } catch {
    return HIDDEN;
  }
  const url = new URL(text);
  if (url.password === '') return text;
  url.password = '';
  return url.href;
}

/** True when the URL itself holds a password, which a file that is shared must not. */
export function holdsPassword(text: string): boolean {
  return parsed(text).password !== '';
}

/** Returns what to tell once about a connection that others could read or answer. */
export function tlsWarning({ host, tls, shown }: StoreAddress): string | undefined {
  if (tls === 'verified' || isLocal(host)) return undefined;
  const risk = tls === 'off' ? 'is not encrypted' : 'is encrypted, but with any server that answers';
  return `the connection to ${shown} ${risk}; sslmode=verify-full changes that`;
}

/** A path is a socket of this machine. */
export function isLocal(host: string): boolean {
  return host.startsWith('/') || LOOPBACK.test(host);
}

function tlsOf(host: string, mode: string | undefined): Tls {
  if (mode === undefined) return isLocal(host) ? 'off' : 'verified';
  const tls = MODES[mode];
  if (tls === undefined) throw badAddress('its sslmode is unknown', 'use verify-full, no-verify or disable');
  return host.startsWith('/') ? 'off' : tls;
}

function parsed(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw badAddress('it is not a URL', EXAMPLE);
  }
  if (url.hash !== '' || text.trimEnd().endsWith('#')) throw badAddress('it has a #, behind which nothing would be read', 'write # as %23');
  // Without the slashes, user and password would be a part of the database's name.
  if (!/^postgres(ql)?:\/\//.test(url.href)) throw badAddress('it does not begin with postgres://', EXAMPLE);
  return url;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badAddress('a % in it is not followed by two hex digits', 'write % as %25');
  }
}

/**
 * With a ? in a password that is not written as %3F, the rest of the address looks like a parameter, or its value. So no value is shown,
 * and no name that other programs of PostgreSQL don't have.
 */
function quoted(name: string): string {
  return OTHER_PARAMETERS.has(name) ? `"${name}"` : 'what is behind a ?';
}

function badAddress(why: string, hint: string): JournalError {
  return new JournalError('STORE_ADDRESS', `the address of the store can't be used: ${why}`, { hint });
}
