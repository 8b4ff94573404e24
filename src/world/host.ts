/** Provides facts about the machine and the process, and randomness: for the first event of a journal, ids of runs, keys and waits. */
import { randomBytes, randomInt } from 'node:crypto';
import { availableParallelism, hostname } from 'node:os';

export interface HostFacts {
  readonly name: string;
  readonly pid: number;
  /** The version of Node. */
  readonly node: string;
}

export function hostFacts(): HostFacts {
  return { name: hostname(), pid: process.pid, node: process.versions.node };
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
