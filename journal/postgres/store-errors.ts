/** Explains to people what the database's errors mean for a store, and tells those that pass from those that don't. */
import { codeOf, JournalError } from '../errors.js';
import { hintOfDenied } from './schema/roles.js';

/** Conditions that functions of the schema raise. */
export const SEALED_STATE = 'ML001';
export const OTHER_HEAD_STATE = 'ML002';
/** The server does not have the run; also a lock that was waited for in vain. */
export const RUN_MISSING_STATE = '55P03';
export const LATE_RESULT_STATE = 'ML003';
/** The run to go on with is not the one that was read, or not free. */
export const TAKEN_OVER_STATE = 'ML004';
/** A row has a key that another row has. */
export const NOT_UNIQUE_STATE = '23505';

const SQL_STATE = /^[0-9A-Z]{5}$/;
/** The server went, comes back, or has no room now. */
const LOST = /^(08|57P|53)/;
/** Another transaction was in the way, or somebody cancelled the statement. */
const AGAIN = /^(40|57014|55P03)/;
/** `ELOST`: the client saw its connection end, without a code. */
const RESTARTING: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOENT', 'ELOST']);
const TLS = /^(ERR_TLS|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO)/;

/** `lost`: the connection is of no use any more. `again`: the same statement may succeed. `final`: it can't. */
export type Failure = 'lost' | 'again' | 'final';

/** Judges what the client of the database threw. */
export function failureOf(error: unknown): Failure {
  if (error instanceof TypeError || error instanceof RangeError || isOfStatementPool(error) || isAboutPassword(error)) return 'final';
  const state = stateOf(error);
  if (state !== undefined) return LOST.test(state) ? 'lost' : AGAIN.test(state) ? 'again' : 'final';
  return isAboutTls(error) ? 'final' : 'lost'; // an error of the socket, or of the client about it
}

/** True for an error of this file after which a later try may succeed. */
export function mayPass(error: unknown): boolean {
  return error instanceof JournalError && error.code === 'STORE_UNREACHABLE';
}

/** True for an error that a server which stops and starts causes: not for a name that nobody knows, or an address without a way. */
export function mayBeRestarting(error: JournalError): boolean {
  return stateOf(error.cause) !== undefined || RESTARTING.has(codeOf(error.cause) ?? '');
}

/** No such database, or none of its tables. */
const REPLACED = /^(3D000|3F000|42P01)$/;

/**
 * Judges an error of opening a connection to a store that was reached before. A database that is dropped and restored is not there for
 * some time, and then without its tables: that passes, and what is there afterwards is compared with what was acknowledged.
 */
export function whileReplaced(error: unknown, shown: string): unknown {
  const isEmpty = error instanceof JournalError && error.code === 'STORE_MIGRATE';
  if (!isEmpty && !REPLACED.test(stateOf(error) ?? '')) return error;
  const cause = isEmpty ? Object.assign(new Error(reasonOf(error)), { code: 'ELOST' }) : error;
  return new JournalError('STORE_UNREACHABLE', `the store ${shown} can't be reached: ${reasonOf(error)}`, {
    hint: 'its database is gone: ask who runs the server whether it is being restored',
    cause,
  });
}

/** Returns the SQLSTATE behind an error of this file. */
export function stateBehind(error: unknown): string | undefined {
  return error instanceof JournalError ? stateOf(error.cause) : undefined;
}

function stateOf(error: unknown): string | undefined {
  const code = codeOf(error);
  return code !== undefined && SQL_STATE.test(code) && code !== 'EPIPE' ? code : undefined;
}

/** PgBouncer in its statement mode says so with the state of a broken protocol. */
function isOfStatementPool(error: unknown): boolean {
  return error instanceof Error && error.message.includes('statement pooling mode');
}

/** The client itself says so, without a code, when the server wants a password and there is none, or when the server doesn't know it. */
function isAboutPassword(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('SASL:');
}

function isAboutTls(error: unknown): boolean {
  return TLS.test(codeOf(error) ?? '') || (error instanceof Error && error.message.includes('SSL'));
}

/** Turns an error of the database's client into one for people. `shown` is the store's address without its password. */
export function storeError(error: unknown, shown: string, statement = ''): JournalError {
  if (error instanceof JournalError) return error;
  const reason = reasonOf(error);
  if (failureOf(error) !== 'final') {
    const cause = codeOf(error) === undefined ? Object.assign(new Error(reason), { code: 'ELOST' }) : error;
    return new JournalError('STORE_UNREACHABLE', `the store ${shown} can't be reached: ${reason}`, {
      hint: 'check that the server runs; MLLD_STORE=files uses the files of this machine instead, without the results of the team',
      cause,
    });
  }
  const [code, message, hint] = explained(stateOf(error) ?? '', error, statement);
  return new JournalError(code, `the store ${shown} ${message}: ${reason}`, { hint, cause: error });
}

function explained(state: string, error: unknown, statement: string): readonly [code: string, message: string, hint: string] {
  if (isAboutTls(error)) return ['STORE_TLS', 'could not prove who it is', 'set sslrootcert= to the certificate of its authority'];
  if (isOfStatementPool(error)) {
    return ['STORE_UNFIT', 'is behind a pool that takes single statements only', 'set pool_mode to transaction or session in PgBouncer'];
  }
  if (/^(28|3D)/.test(state) || isAboutPassword(error)) {
    return ['STORE_REFUSED', 'did not let us in', 'check user, password (PGPASSWORD, ~/.pgpass) and name of the database'];
  }
  if (state === '42P01' || state === '3F000' || state === '42883') {
    return ['STORE_MIGRATE', 'does not have the tables of this version', 'run mlld store migrate as the owner of the schema'];
  }
  if (state === '42501') return ['STORE_DENIED', 'does not allow this', hintOfDenied(statement)];
  if (state === '25006') {
    return ['STORE_DENIED', 'takes nothing', 'the server is a standby, or was set to reading only: use the address of the one that writes'];
  }
  return ['STORE_FAILED', 'did not take a statement', 'this is a mistake of mlld or a change to its tables; docs/team.md names them'];
}

/** The system's errors about several addresses of a host have no message of their own. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || codeOf(error) || error.name;
}
