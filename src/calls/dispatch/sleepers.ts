/** Waits for moments: those of calls, which end early when the run must stop, and those of lanes. */
import { TIMER_MAX_MS } from '../../world/clock.js';

export class Sleepers {
  private readonly sleeping = new Set<{ readonly timer?: NodeJS.Timeout; readonly reject: (error: Error) => void }>();

  sleep(ms: number): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const wake = (): void => {
        this.sleeping.delete(sleeper);
        resolve();
      };
      const sleeper = { timer: setTimeout(wake, Math.min(ms, TIMER_MAX_MS)), reject };
      this.sleeping.add(sleeper);
    });
  }

  untilRejected(): Promise<never> {
    return new Promise((_, reject) => this.sleeping.add({ reject }));
  }

  rejectAll(error: Error): void {
    for (const { timer, reject } of this.sleeping) {
      clearTimeout(timer);
      reject(error);
    }
    this.sleeping.clear();
  }
}

/** Something else may still happen after the last thing that was in flight: reading a result, appending to the journal. */
export const IDLE_CONFIRM_MS = 20;

/**
 * Pauses a run that stays idle for a moment in which nothing has ended or is written. Between the end of one thing and the beginning of
 * the next a run looks idle. DISPATCH-3
 */
export class IdleTimer {
  private timer: NodeJS.Timeout | undefined;
  private hasMoved = false;

  constructor(
    private readonly isIdle: () => boolean,
    private readonly pause: () => void,
  ) {}

  /** To be called whenever something has ended, and the run is idle. */
  start(isWriting: () => boolean = () => false): void {
    this.hasMoved = this.timer !== undefined;
    if (this.hasMoved) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      if (!this.isIdle()) return; // the end of what is in flight starts it again
      if (this.hasMoved || isWriting()) this.start(isWriting);
      else this.pause();
    }, IDLE_CONFIRM_MS);
  }

  clear(): void {
    clearTimeout(this.timer);
  }
}

/** One timer for the earliest of the moments that something waits for. */
export class Alarm {
  private timer: NodeJS.Timeout | undefined;
  private setForMs = Number.POSITIVE_INFINITY;

  constructor(
    private readonly monotonicMs: () => number,
    private readonly ring: () => void,
  ) {}

  at(atMs: number): void {
    if (this.setForMs <= atMs) return;
    this.clear();
    this.setForMs = atMs;
    const delayMs = Math.ceil(Math.max(0, atMs - this.monotonicMs()));
    this.timer = setTimeout(
      () => {
        this.setForMs = Number.POSITIVE_INFINITY;
        this.ring();
      },
      Math.min(delayMs, TIMER_MAX_MS),
    );
  }

  clear(): void {
    clearTimeout(this.timer);
    this.setForMs = Number.POSITIVE_INFINITY;
  }
}
