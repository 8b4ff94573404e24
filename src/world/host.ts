/** Provides facts about the machine and the process, and randomness: for the first event of a journal, ids of runs, keys and waits. */
import { randomBytes, randomInt } from 'node:crypto';
import { availableParallelism, hostname, userInfo } from 'node:os';

export interface HostFacts {
  readonly name: string;
  /** The user of this process; undefined where the system has no name for it. */
  readonly user: string | undefined;
  readonly pid: number;
  /** The version of Node. */
  readonly node: string;
}

export function hostFacts(): HostFacts {
  return { name: hostname(), user: userName(), pid: process.pid, node: process.versions.node };
}

/** A container may run as a number that is in no list of users. */
function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

/** Returns digits of base 36. */
export function randomDigits(count: number): string {
  return Array.from({ length: count }, () => randomInt(36).toString(36)).join('');
}

/** Returns a key that is used once and kept nowhere. */
export function randomKey(bytes: number): Uint8Array {
  return randomBytes(bytes);
}

/** Returns a number uniform in [0, 1). */
export function randomFraction(): number {
  return Math.random();
}

/** The processors that this program may use. */
export function processorCount(): number {
  return availableParallelism();
}
