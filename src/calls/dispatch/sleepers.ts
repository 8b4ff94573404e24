/** Waits that end early when the run must stop. */
import { TIMER_MAX_MS } from '../../world/clock.js';

export class Sleepers {
  private readonly sleeping = new Set<{ readonly timer: NodeJS.Timeout; readonly reject: (error: Error) => void }>();

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

  rejectAll(error: Error): void {
    for (const { timer, reject } of this.sleeping) {
      clearTimeout(timer);
      reject(error);
    }
    this.sleeping.clear();
  }
}
