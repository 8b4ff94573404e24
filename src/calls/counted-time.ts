/**
 * Measures the time of an attempt that counts for its limit: without that in which it only waits for calls inside it that wait for their
 * lanes or the budget. calls.md 6.5.
 *
 * TIME-1 The time stands still while a call inside waits and no attempt inside is executed. An attempt whose own time stands still is one
 *    that waits.
 * TIME-2 An attempt that has ended changes nothing in those around it, whatever its body still does.
 */
import { TIMER_MAX_MS } from '../world/clock.js';

export class CountedTime {
  /** Calls directly inside that wait, and attempts whose time stands still. */
  private waiting = 0;
  /** Attempts directly inside whose time goes on. */
  private active = 0;
  private isStill = false;
  private isClosed = false;
  private spentMs = 0;
  private sinceMs: number;
  private timer: NodeJS.Timeout | undefined;
  private onOver: (() => void) | undefined;

  private constructor(
    private readonly monotonicMs: () => number,
    private readonly limitMs: number,
    private readonly around: CountedTime | undefined,
  ) {
    this.sinceMs = monotonicMs();
  }

  /**
   * Begins with the attempt, and is closed with it.
   *
   * @param limitMs infinite for an attempt without a limit of its own, inside one that has one
   */
  static begin(monotonicMs: () => number, limitMs: number, around: CountedTime | undefined): CountedTime {
    around?.change(0, 1);
    return new CountedTime(monotonicMs, limitMs, around);
  }

  leftMs(): number {
    const { limitMs, spentMs, isStill, sinceMs } = this;
    return limitMs - spentMs - (isStill ? 0 : this.monotonicMs() - sinceMs);
  }

  /** Calls `onOver` once when the time is over. */
  watch(onOver: () => void): void {
    this.onOver = onOver;
    this.arm();
  }

  /** Holds for as long as a call inside waits before an attempt of it may start. */
  async waitFor<T>(waiting: Promise<T>): Promise<T> {
    this.change(1, 0);
    try {
      return await waiting;
    } finally {
      this.change(-1, 0);
    }
  }

  /** The attempt has ended (TIME-2). */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    this.around?.change(this.isStill ? -1 : 0, this.isStill ? 0 : -1);
  }

  private change(waiting: number, active: number): void {
    if (this.isClosed) return;
    this.waiting += waiting;
    this.active += active;
    const isStill = this.waiting > 0 && this.active === 0;
    if (isStill === this.isStill) return;
    const nowMs = this.monotonicMs();
    if (isStill) this.spentMs += nowMs - this.sinceMs;
    this.sinceMs = nowMs;
    this.isStill = isStill;
    this.around?.change(isStill ? 1 : -1, isStill ? -1 : 1);
    this.arm();
  }

  private arm(): void {
    clearTimeout(this.timer);
    if (this.isStill || this.onOver === undefined) return;
    const leftMs = this.leftMs();
    this.timer = setTimeout(
      () => {
        if (this.leftMs() > 0) return this.arm(); // a timer may fire early, and none waits as long as a limit may be
        this.onOver?.();
        this.onOver = undefined;
      },
      Math.min(Math.max(0, Math.ceil(leftMs)), TIMER_MAX_MS),
    );
  }
}
