/**
 * Lets a program wait that the system has no room for, until another one has ended.
 *
 * ROOM-1 Each end lets one of them try again, in the order in which they came. Behind the last end all do: nothing else would.
 * ROOM-2 Node is not asked to start a program that there are too few descriptors for: each time it would lose some for good.
 */
import { closeSync, openSync } from 'node:fs';
import { WorldError } from '../world.js';

const SHORT: ReadonlySet<unknown> = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']);

/** Returns whether a program was not started because the system lacked a process, a file or memory for it. */
export function lacksRoom(error: unknown): boolean {
  return error instanceof WorldError && SHORT.has((error.cause as NodeJS.ErrnoException | undefined)?.code);
}

/** Throws EMFILE and the like where Node would have too few descriptors to start a program with so many pipes. ROOM-2 */
export function makeSureOfRoom(pipes: number): void {
  if (process.platform === 'win32') return;
  const taken: number[] = [];
  try {
    while (taken.length < 2 * pipes + OWN_DESCRIPTORS) taken.push(openSync('/dev/null', 'r'));
  } catch (error) {
    if (SHORT.has((error as NodeJS.ErrnoException).code)) throw error;
  } finally {
    taken.forEach((descriptor) => closeSync(descriptor));
  }
}

/** Node needs some besides the two ends of each pipe: it learns by a pipe of its own whether the program began. */
const OWN_DESCRIPTORS = 4;

export class Room {
  private readonly waiting = new Set<() => void>();
  private programs = 0;

  /** False when no program runs whose end could make room. */
  get isInUse(): boolean {
    return this.programs > 0;
  }

  enter(): void {
    this.programs++;
  }

  leave(): void {
    this.programs--;
    for (const tryAgain of this.waiting) {
      tryAgain();
      if (this.isInUse) return;
    }
  }

  /** Resolves when it is worth another try, or the signal fires. */
  untilLeft(signal: AbortSignal | undefined): Promise<void> {
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
