/** Errors of the database say to people what to do, and to runs whether to try again. */
import { describe, expect, it } from 'vitest';
import { mayPass, storeError } from '../../../journal/postgres/store-errors.js';

const error = (code: string, message = 'made up'): Error => Object.assign(new Error(message), { code });

describe('an error of the database', () => {
  it.each([
    ['57P01', 'terminating connection due to administrator command'],
    ['53300', 'sorry, too many clients already'],
    ['08P01', 'query_wait_timeout'],
    ['ECONNRESET', 'read ECONNRESET'],
    ['40001', 'could not serialize access'],
  ])('of state %s passes', (code, message) => {
    expect(mayPass(storeError(error(code, message), 'postgres://made.up'))).toBe(true);
  });

  it.each([
    ['08P01', 'transaction blocks not allowed in statement pooling mode', 'select 1', 'STORE_UNFIT', 'pool_mode'],
    ['42501', 'permission denied for table runs', 'select mlld.begin_run($1)', 'STORE_DENIED', 'mlld_run'],
    ['42501', 'permission denied for table events', 'delete from mlld.events where run_id = $1', 'STORE_DENIED', 'mlld_keeper'],
    ['42501', 'permission denied for schema mlld', 'select path from mlld.workflows', 'STORE_DENIED', 'mlld_read'],
    ['42501', 'must be owner of table runs', 'alter table mlld.runs add column x int', 'STORE_DENIED', 'mlld_owner'],
    ['42501', 'permission denied for database mlld', 'create schema mlld', 'STORE_DENIED', 'the owner of the database has to run this'],
    ['25006', 'cannot execute INSERT in a read-only transaction', 'insert into mlld.runs', 'STORE_DENIED', 'standby'],
    ['28P01', 'password authentication failed', '', 'STORE_REFUSED', 'PGPASSWORD'],
    ['42P01', 'relation "mlld.meta" does not exist', '', 'STORE_MIGRATE', 'mlld store migrate'],
  ])('of state %s (%s) does not, and says what helps', (code, message, statement, expected, hint) => {
    const explained = storeError(error(code, message), 'postgres://made.up', statement);
    expect(mayPass(explained)).toBe(false);
    expect(explained).toMatchObject({ code: expected, message: expect.stringContaining(message), hint: expect.stringContaining(hint) });
  });

  it('that a server wants a password, and there is none, does not pass: a restart does not change it', () => {
    const explained = storeError(new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'), 'postgres://made.up');
    expect(mayPass(explained)).toBe(false);
    expect(explained).toMatchObject({ code: 'STORE_REFUSED', hint: expect.stringContaining('PGPASSWORD') });
  });
});
