/**
 * Decides when a run looks again at a call that another run executes: when a hint comes, and from time to time, because a hint may be lost.
 * team-store.md 11.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Claims } from '../../../../journal/storage/claims.js';
import type { HintWatch } from '../../../../journal/storage/hints.js';

/** Looks are at least so far apart: hints are of all calls of a workflow, and of this one perhaps one in a thousand. */
const POLL_FIRST_MS = 100;
const POLL_MAX_MS = 2000;

interface WaitPorts {
  readonly claims: Pick<Claims, 'watch'>;
  /** Aborted when the run must stop: it ends the waiting. */
  readonly signal: AbortSignal;
  readonly monotonicMs: () => number;
}

export class WaitForCall {
  private watch: HintWatch | undefined;
  private delayMs = POLL_FIRST_MS;
  private readonly sinceMs: number;

  private onEnd: (() => void) | undefined;

  /** `onWaiting` as in `ClaimedCall`. */
  constructor(
    private readonly ports: WaitPorts,
    private readonly onWaiting?: (() => () => void) | undefined,
  ) {
    this.sinceMs = ports.monotonicMs();
  }

  get lastedMs(): number {
    return this.ports.monotonicMs() - this.sinceMs;
  }

  startAnew(): void {
    this.delayMs = POLL_FIRST_MS;
  }

  async untilNextLook(): Promise<void> {
    const { claims, signal, monotonicMs } = this.ports;
    this.watch ??= claims.watch();
    this.onEnd ??= this.onWaiting?.();
    const lookedMs = monotonicMs();
    const wasHinted = await this.watch.wait(this.delayMs, signal);
    this.delayMs = wasHinted ? POLL_FIRST_MS : Math.min(2 * this.delayMs, POLL_MAX_MS);
    const restMs = lookedMs + POLL_FIRST_MS - monotonicMs();
    if (restMs > 0) await sleep(restMs, undefined, { signal }).catch(() => undefined); // the caller looks at the signal
  }

  end(): void {
    this.watch?.close();
    this.onEnd?.();
  }
}
