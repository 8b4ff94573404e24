/**
 * Lets a program wait that the system has no capacity for, until another one has ended.
 *
 * CAPACITY-1 Each end lets one of them try again, in the order in which they came. Behind the last end all do: nothing else would.
 * CAPACITY-2 Node is not asked to start a program for which there are too few descriptors: each time it would lose some for good.
 */
import { closeSync, openSync } from 'node:fs';
import { WorldError } from '../world.js';

const SHORTAGES: ReadonlySet<string | undefined> = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']);
/** Node needs some descriptors besides the two ends of each pipe: it learns by a pipe of its own whether the program began. */
const OWN_DESCRIPTORS = 4;

/** Returns whether an error of the system says that it lacks a process, a descriptor or memory. */
export function isShortage(code: string | undefined): boolean {
  return SHORTAGES.has(code);
}

/** Returns the code of the system for a program that was not started because of a shortage; undefined for every other error. */
export function shortageIn(error: unknown): string | undefined {
  const code = error instanceof WorldError ? (error.cause as NodeJS.ErrnoException | undefined)?.code : undefined;
  return isShortage(code) ? code : undefined;
}

/** Throws EMFILE and the like where Node would have too few descriptors to start a program with so many pipes. CAPACITY-2 */
export function requireDescriptors(pipes: number): void {
  if (process.platform === 'win32') return;
  const taken: number[] = [];
  try {
    while (taken.length < 2 * pipes + OWN_DESCRIPTORS) taken.push(openSync('/dev/null', 'r'));
  } catch (error) {
    if (isShortage((error as NodeJS.ErrnoException).code)) throw error;
  } finally {
    taken.forEach((descriptor) => closeSync(descriptor));
  }
}

/** Counts the programs that run, and holds those that wait for one of them to end. */
export class Capacity {
  private readonly waiting = new Set<() => void>();
  private programs = 0;

  /** False when no program runs whose end could help. */
  get isInUse(): boolean {
    return this.programs > 0;
  }

  started(): void {
    this.programs++;
  }

  ended(): void {
    this.programs--;
    for (const tryAgain of this.waiting) {
      tryAgain();
      if (this.isInUse) return;
    }
  }

  /** Resolves when it is worth another try, or the signal fires. */
  untilEnded(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const tryAgain = (): void => {
        this.waiting.delete(tryAgain);
        signal?.removeEventListener('abort', tryAgain);
        resolve();
      };
      this.waiting.add(tryAgain);
      signal?.addEventListener('abort', tryAgain, { once: true });
    });
  }
}
