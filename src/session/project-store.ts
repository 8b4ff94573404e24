/** Opens the store that a project's runs are kept in: the files below its root, or the store of a team. team-store.md 1. */
import { join } from 'node:path';
import { JournalError, skippedRun } from '../../journal/errors.js';
import type { TeamStore, TeamStoreOptions } from '../../journal/postgres/open-store.js';
import type { RunRef } from '../../journal/ids.js';
import type { SealingKey } from '../../journal/secrets/keyring.js';
import type { JournalStore } from '../../journal/store.js';
import { MlldError } from '../errors.js';
import { parseDuration } from '../values/durations.js';
import type { Project } from './project.js';

export interface StorePlace {
  readonly project: Pick<Project, 'root' | 'config'>;
  readonly environment: { readonly [name: string]: string | undefined };
  readonly sealingKey: SealingKey;
  readonly stderr: (text: string) => void;
  /** A store that was reached and goes away is waited for so long; else as long as `MLLD_STORE_WAIT` says. */
  readonly waitMs?: number | undefined;
}

const LEASE_MIN_MS = 1000;
const LEASE_MAX_MS = 3_600_000;
/** A server is back so soon after a restart, when it did not crash with much to repair. */
const FIRST_WAIT_MS = 10_000;
const CONNECT_MAX_MS = 30_000;

/** Nothing of a database is loaded for files. Throws STORE_ADDRESS, STORE_PROJECT, STORE_PASSWORD_IN_CONFIG. */
export async function openProjectStore(place: StorePlace): Promise<JournalStore> {
  const { project, sealingKey, stderr } = place;
  const address = storeUrl(place);
  if (address !== undefined) return openDatabase(place, address);
  const { openFileStore } = await import('../../journal/storage/file-store.js');
  return openFileStore(project.root, { sealingKey, onSkipped: warnOnce(stderr, 'its file from .mlld/journal') });
}

/** As `openProjectStore`, for a run that records: what earlier ones could not bring into the store comes first. team-store.md 4.4. */
export async function openRecordingStore(
  place: StorePlace,
  purpose: NonNullable<TeamStoreOptions['purpose']> = 'recording',
): Promise<JournalStore> {
  const address = storeUrl(place);
  if (address === undefined) return openProjectStore(place);
  let isReported = false; // several connections may wait
  const firstWait = {
    waitMs: FIRST_WAIT_MS,
    onWait(error: JournalError, waitMs: number) {
      if (!isReported) place.stderr(`warning: ${error.message}; trying for ${waitMs / 1000} s, in case it restarts\n`);
      isReported = true;
    },
  };
  const store = await openDatabase(place, address, { firstWait, purpose });
  store.openConnections();
  await bringInSpills(store, place.stderr);
  return store;
}

/** Reports only damaged spills, which nobody else reads: a store that refuses is reported by whoever reads it next. */
async function bringInSpills(store: JournalStore, stderr: StorePlace['stderr']): Promise<void> {
  const { pushSpills, describePush } = await import('./upkeep/push-spills.js');
  try {
    for (const pushed of await pushSpills(store)) stderr(`${describePush(pushed)}\n`);
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    if (error.code === 'STORE_SPILL_DAMAGED') stderr(`warning: ${error.message} (${error.hint})\n`);
  }
}

/** The URL of the team's store; undefined when the project keeps its runs in files. */
export function storeUrl({ project, environment }: Pick<StorePlace, 'project' | 'environment'>): string | undefined {
  const set = environment['MLLD_STORE'];
  if (set === 'files') return undefined;
  return set || project.config.store?.url;
}

/**
 * Parses the address, refuses a password in the configuration, and warns of a connection that others could read. An address of the
 * configuration may be that of a stranger, whose repository was cloned: it gets no password that belongs to no server (decision 0061).
 */
export async function storeConnection(place: Omit<StorePlace, 'sealingKey'>, url: string) {
  const { parseStoreAddress, holdsPassword, isLocal, tlsWarning } = await import('../../journal/postgres/store-address.js');
  const { connectClient } = await import('../../journal/postgres/pg-client.js');
  const { project, environment, stderr } = place;
  const configured = project.config.store;
  if (url === configured?.url && holdsPassword(url)) {
    throw new JournalError('STORE_PASSWORD_IN_CONFIG', 'mlld-config.json holds the password of the store, and is shared', {
      hint: 'put it into PGPASSWORD or ~/.pgpass, and change it on the server if the file was shared already',
    });
  }
  const address = parseStoreAddress(url, { project: configured?.project, environment });
  const { MLLD_STORE: named, PGPASSWORD: password } = environment;
  if (!named && password && !isLocal(address.host)) {
    throw new JournalError('STORE_UNTRUSTED', `mlld-config.json names the store ${address.shown}, and PGPASSWORD would be sent there`, {
      hint: 'where you know that server, name it yourself in MLLD_STORE, or use ~/.pgpass instead of PGPASSWORD; MLLD_STORE=files uses the files',
    });
  }
  const warning = tlsWarning(address);
  if (warning !== undefined) stderr(`warning: ${warning}\n`);
  const leaseMs = durationOf(environment, 'MLLD_LEASE', { min: LEASE_MIN_MS, max: LEASE_MAX_MS });
  const connectMs = Math.min(CONNECT_MAX_MS, (leaseMs ?? LEASE_MAX_MS) / 2);
  return { address, leaseMs, connect: (onLost: () => void) => connectClient(address, { connectMs, onLost }) };
}

async function openDatabase(
  place: StorePlace,
  url: string,
  options: Pick<TeamStoreOptions, 'firstWait' | 'purpose'> = {},
): Promise<TeamStore> {
  const { project, environment, sealingKey, stderr } = place;
  const { address, leaseMs, connect } = await storeConnection(place, url);
  const { openTeamStore } = await import('../../journal/postgres/open-store.js');
  const { projectKeySource } = await import('../../journal/secrets/keyring.js');
  const { realDisk } = await import('../../journal/storage/disk.js');
  const { openIndexFiles } = await import('../../journal/storage/index-files.js');
  const { journalFolder } = await import('../../journal/storage/layout.js');
  const waitMs = place.waitMs ?? durationOf(environment, 'MLLD_STORE_WAIT', { min: 0, max: Infinity });
  return openTeamStore({
    connect,
    project: address.project,
    shown: address.shown,
    keys: projectKeySource(realDisk, journalFolder(project.root), sealingKey),
    spill: { disk: realDisk, folder: join(project.root, '.mlld', 'spill') },
    indexCopies: openIndexFiles(realDisk, join(project.root, '.mlld', 'cache')),
    ...(leaseMs !== undefined && { leaseMs }),
    ...(waitMs !== undefined && { waitMs }),
    ...options,
    allowUnsafe: environment['MLLD_STORE_UNSAFE'] === '1',
    notifies: notifies(environment),
    onSkipped: warnOnce(stderr, 'its row from mlld.runs'),
  });
}

/** A process may list the runs of its store again and again. */
function warnOnce(stderr: StorePlace['stderr'], remove: string): (ref: RunRef) => void {
  const reported = new Set<string>();
  return (ref) => {
    const warning = skippedRun(ref, remove);
    if (!reported.has(warning)) stderr(`warning: ${warning}\n`);
    reported.add(warning);
  };
}

function notifies({ MLLD_STORE_NOTIFY: wanted }: StorePlace['environment']): boolean {
  if (!wanted || wanted === 'on') return true;
  if (wanted === 'off') return false;
  throw new MlldError('BAD_OPTION', 'MLLD_STORE_NOTIFY is neither on nor off', { hint: 'MLLD_STORE_NOTIFY=off' });
}

function durationOf(
  environment: StorePlace['environment'],
  name: string,
  { min, max }: { readonly min: number; readonly max: number },
): number | undefined {
  const text = environment[name];
  if (!text) return undefined;
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= min && ms <= max) return ms;
  const allowed = max === Infinity ? 'as in 500ms, 30s, 5m or 1h' : `between ${min / 1000} s and ${max / 3_600_000} h`;
  throw new MlldError('BAD_OPTION', `${name}=${text}: a duration is expected, ${allowed}`, { hint: `${name}=60s` });
}
