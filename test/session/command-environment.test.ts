import { expect, it } from 'vitest';
import { withoutOwnSecrets } from '../../src/world/own-secrets.js';

it('keeps the key of the journal and the password of the store from commands, which may print their environment', () => {
  const environment = { PATH: '/bin', MLLD_JOURNAL_KEY: 'k', MLLD_STORE: 'postgres://ada:s3cret@db/mlld?project=acme/patrol' };
  expect(withoutOwnSecrets(environment)).toEqual({ PATH: '/bin', MLLD_STORE: 'postgres://ada@db/mlld?project=acme/patrol' });
});

it.each([
  'postgres://ada:s3cret@db:54x/mlld?project=p',
  'postgres://ada:s3cret#x@db/mlld?project=p',
  'postgres://ada:1#s3cret@db/mlld?project=p',
  'postgres://ada:1/s3cret@db/mlld?project=p',
  'postgres://ada@db/mlld?project=p&password=s3cret',
  'postgres:/ada:s3cret@db?project=p',
  'ada:s3cret@db/mlld',
])('hides an address that can not be used, because its password may be anywhere: %s', (MLLD_STORE) => {
  expect(withoutOwnSecrets({ MLLD_STORE })).toEqual({ MLLD_STORE: 'postgres://hidden' });
});

it.each(['files', 'postgres://db/mlld?project=acme/patrol', ''])('leaves the store %j as it is', (MLLD_STORE) => {
  expect(withoutOwnSecrets({ MLLD_STORE })).toEqual({ MLLD_STORE });
});

it('adds no store where none is named', () => {
  expect(withoutOwnSecrets({ PATH: '/bin' })).toEqual({ PATH: '/bin' });
});
