/**
 * Finds programs that a killed run left behind and that still live, ends them, or waits for them.
 *
 * ORPHAN-1 Nothing is signalled but a group whose first process lives and started when it was recorded, in this boot: a number that was
 *    reused is left alone, and so is what a command left behind when it had ended itself.
 * ORPHAN-2 A process that was killed and that its parent hasn't waited for yet does nothing any more: it counts as gone.
 */
import { readdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { bootId, processStatus } from '../../../journal/storage/processes.js';
import { GRACE_MS } from './process.js';
import { monotonicMs } from '../stopwatch.js';
import type { StartedProcess } from '../world.js';

export interface Orphan extends StartedProcess {
  /** The time at which it was recorded. */
  readonly atMs: number;
}

const POLL_MS = 50;
/** Used while they are not signalled: an agent may work for an hour. */
const WAITING_POLL_MS = 500;
/** Record and start of a process may differ by so much where the system reports the start in seconds only. */
const START_MS_MAX = 2000;

/** Returns those that still live. */
export async function livingOrphans(recorded: readonly Orphan[]): Promise<readonly Orphan[]> {
  const boot = bootId();
  const possible = recorded.filter((each) => each.boot === boot);
  const sure = possible.filter(({ group, started }) => started !== '' && processStatus(group)?.started === started);
  const others = possible.filter(({ started }) => started === '');
  if (sure.length + others.length === 0) return [];
  const living = await livingProcesses();
  const started = new Map(living.map(({ pid, startedMs = Number.NaN }) => [pid, startedMs]));
  return [
    ...sure.filter(({ group }) => living.some((each) => each.group === group)),
    ...others.filter(({ group, atMs }) => Math.abs((started.get(group) ?? Number.NaN) - atMs) <= START_MS_MAX),
  ];
}

/** Sends SIGTERM, and SIGKILL after the grace time. Returns those that can't be ended. */
export async function endOrphans(orphans: readonly Orphan[]): Promise<readonly Orphan[]> {
  const signalled = (signal: NodeJS.Signals) => (living: readonly Orphan[]) => living.forEach(({ group }) => signalGroup(group, signal));
  signalled('SIGTERM')(orphans);
  const left = await gone(orphans, GRACE_MS);
  signalled('SIGKILL')(left);
  return gone(left, GRACE_MS);
}

/** Resolves when all of them have ended, or when `ending` is aborted. */
export async function awaitOrphans(orphans: readonly Orphan[], ending: AbortSignal): Promise<void> {
  await gone(orphans, Number.POSITIVE_INFINITY, { pollMs: WAITING_POLL_MS, ending });
}

/** Waits until their groups have no living member. Returns those that have one when the time is over. */
async function gone(
  orphans: readonly Orphan[],
  patienceMs: number,
  { pollMs = POLL_MS, ending }: { readonly pollMs?: number; readonly ending?: AbortSignal } = {},
): Promise<readonly Orphan[]> {
  const deadlineMs = monotonicMs() + patienceMs;
  for (let left = orphans; ; await delay(pollMs)) {
    if (left.length === 0) return left;
    const groups = new Set((await livingProcesses()).map(({ group }) => group));
    left = left.filter(({ group }) => groups.has(group));
    if (monotonicMs() > deadlineMs || ending?.aborted) return left;
  }
}

function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // It ended meanwhile, or belongs to another user: waiting for its end shows which.
  }
}

interface LivingProcess {
  readonly pid: number;
  readonly group: number;
  /** Present where there is no `/proc`, which is more exact. */
  readonly startedMs?: number;
}

async function livingProcesses(): Promise<readonly LivingProcess[]> {
  const names = await readdir('/proc').catch(() => []);
  const numbers = names.filter((name) => /^\d+$/.test(name)).map(Number);
  if (numbers.length === 0) return listedProcesses();
  return numbers.flatMap((pid) => {
    const status = processStatus(pid);
    return status?.isDead === false ? [{ pid, group: status.group }] : [];
  });
}

/** Reads the list of `ps`, as macOS and the BSDs have it. Without `ps` no process is known to live. */
export async function listedProcesses(): Promise<readonly LivingProcess[]> {
  const { execFile } = process.getBuiltinModule('node:child_process');
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
  const listing = await new Promise<string>((resolve) =>
    execFile('ps', ['-A', '-o', 'pid=,pgid=,stat=,lstart='], { env, maxBuffer: LISTING_BYTES_MAX }, (error, stdout) =>
      resolve(error ? '' : stdout),
    ),
  );
  return listing.split('\n').flatMap((line) => {
    const [, pid, group, state, started] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.+)$/.exec(line) ?? [];
    if (state === undefined || state.startsWith('Z')) return [];
    return [{ pid: Number(pid), group: Number(group), startedMs: Date.parse(`${started} UTC`) }];
  });
}

const LISTING_BYTES_MAX = 64 * 1024 * 1024;
