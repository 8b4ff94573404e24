/** Facts about the machine and the process, and its randomness: for the head of a journal, the ids of runs, keys and waits. */
import { randomBytes, randomInt } from 'node:crypto';
import { hostname } from 'node:os';

export interface HostFacts {
  readonly name: string;
  readonly pid: number;
  /** Version of Node. */
  readonly node: string;
}

export function hostFacts(): HostFacts {
  return { name: hostname(), pid: process.pid, node: process.versions.node };
}

/** Digits of base 36. */
export function randomDigits(count: number): string {
  return Array.from({ length: count }, () => randomInt(36).toString(36)).join('');
}

/** For a key that is used once and kept nowhere. */
export function randomKey(bytes: number): Uint8Array {
  return randomBytes(bytes);
}

/** Uniform in [0, 1). */
export function randomFraction(): number {
  return Math.random();
}
