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

/** Looks once more, a moment later, whether a run that seems idle is. */
export class IdleTimer {
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly look: () => void) {}

  start(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.look();
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
