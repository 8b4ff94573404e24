import { expect, it } from 'vitest';
import { holdsPassword, parseStoreAddress, tlsWarning } from '../../../journal/postgres/store-address.js';
import { storeError } from '../../../journal/postgres/store-errors.js';

const environment = {};

it('reads an address, and shows it without its password', () => {
  const url = 'postgres://ada:s3cr%2Ft@db.example:6543/mlld?project=acme/patrol';
  expect(parseStoreAddress(url, { environment })).toEqual({
    host: 'db.example',
    port: 6543,
    database: 'mlld',
    user: 'ada',
    password: 's3cr/t',
    passwordFile: undefined,
    project: 'acme/patrol',
    tls: 'verified',
    certificates: undefined,
    shown: 'postgres://ada@db.example:6543/mlld?project=acme/patrol',
  });
  expect(holdsPassword(url)).toBe(true);
  expect(holdsPassword('postgres://ada@db.example/mlld')).toBe(false);
});

it.each([
  ['db.example', undefined, 'verified', false],
  ['db.example', 'prefer', 'verified', false],
  ['db.example', 'require', 'verified', false],
  ['db.example', 'no-verify', 'unverified', true],
  ['db.example', 'disable', 'off', true],
  ['127.0.0.1', undefined, 'off', false],
  ['[::1]', undefined, 'off', false],
  ['localhost', 'verify-full', 'verified', false],
] as const)('connects to %s with sslmode %s: %s', (host, mode, tls, warns) => {
  const address = parseStoreAddress(`postgres://${host}/mlld?project=p${mode === undefined ? '' : `&sslmode=${mode}`}`, { environment });
  expect(address.tls).toBe(tls);
  expect(tlsWarning(address) !== undefined).toBe(warns);
});

it('takes the password of the variable where the address has none', () => {
  const read = (url: string) => parseStoreAddress(url, { environment: { PGPASSWORD: 'of-variable', HOME: '/home/ada' } });
  expect(read('postgres://ada@db/mlld?project=p')).toMatchObject({ password: 'of-variable', passwordFile: '/home/ada/.pgpass' });
  expect(read('postgres://ada:own@db/mlld?project=p').password).toBe('own');
});

it('takes the project of the configuration, and what the variables of PostgreSQL say', () => {
  const address = parseStoreAddress('postgresql:///mlld?host=/var/run/postgresql', {
    project: 'patrol',
    environment: { PGUSER: 'ada', PGSSLMODE: 'disable', PGSSLROOTCERT: '/etc/ca.pem' },
  });
  expect(address).toMatchObject({ host: '/var/run/postgresql', project: 'patrol', user: 'ada', tls: 'off', certificates: '/etc/ca.pem' });
});

it.each([
  ['postgres://db/mlld', 'STORE_PROJECT'],
  ['db/mlld', 'STORE_ADDRESS'],
  ['mysql://db/mlld?project=p', 'STORE_ADDRESS'],
  ['postgres://db?project=p', 'STORE_ADDRESS'],
  ['postgres://db/mlld?project=p&sslmode=maybe', 'STORE_ADDRESS'],
  ['postgres://db/mlld?project=p&options=-c', 'STORE_ADDRESS'],
  ['postgres://u:100%@db/mlld?project=p', 'STORE_ADDRESS'],
  ['postgres://u:1?100%25@db/mlld?project=p', 'STORE_ADDRESS'],
  ['postgres://db/mlld?project=p&project=q', 'STORE_ADDRESS'],
  ['postgres://db/mlld?project=p%00', 'STORE_ADDRESS'],
  ['postgres://db/mlld?project=team#1', 'STORE_ADDRESS'],
  ['postgres://db/mlld?project=team#', 'STORE_ADDRESS'],
])('refuses %s', (url, code) => {
  expect(() => parseStoreAddress(url, { environment })).toThrow(
    expect.objectContaining({ code, message: expect.not.stringContaining('100%') }),
  );
});

it.each([
  'postgres:/ada:s3cret@db?project=p',
  'postgres:ada:s3cret@db?project=p',
  'postgres:///ada:s3cret@db?project=p',
  'postgres://ada:1/s3cret@db?project=p',
  'postgres://ada:1?s3cret=@db/mlld?project=p',
  'postgres://ada:1/x?s3cret=@db/mlld?project=p',
  'postgres://ada:1/x?sslmode=s3cret@db/mlld&project=p',
])('shows nothing of a password that is where a URL has none: %s', (url) => {
  expect(() => parseStoreAddress(url, { environment })).toThrow(
    expect.objectContaining({ code: 'STORE_ADDRESS', message: expect.not.stringContaining('s3cret') }),
  );
});

it.each([
  [{ code: 'ECONNREFUSED', message: 'refused' }, 'STORE_UNREACHABLE'],
  [{ message: 'Connection terminated unexpectedly' }, 'STORE_UNREACHABLE'],
  [{ code: '57P01', message: 'shutting down' }, 'STORE_UNREACHABLE'],
  [{ code: '40001', message: 'could not serialize' }, 'STORE_UNREACHABLE'],
  [{ code: '53300', message: 'too many clients' }, 'STORE_UNREACHABLE'],
  [{ code: '28P01', message: 'password authentication failed' }, 'STORE_REFUSED'],
  [{ code: '3D000', message: 'no database' }, 'STORE_REFUSED'],
  [{ code: '42P01', message: 'no table' }, 'STORE_MIGRATE'],
  [{ code: '42501', message: 'permission denied' }, 'STORE_DENIED'],
  [{ code: '22P02', message: 'bad value' }, 'STORE_FAILED'],
  [{ code: 'SELF_SIGNED_CERT_IN_CHAIN', message: 'self-signed' }, 'STORE_TLS'],
])('explains %j as %s', ({ message, ...code }, expected) => {
  expect(storeError(Object.assign(new Error(message), code), 'postgres://db/mlld')).toMatchObject({ name: 'JournalError', code: expected });
});
