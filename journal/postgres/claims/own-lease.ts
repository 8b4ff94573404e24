/**
 * Knows whether the lease of a run of this process may have run out: what the run had claimed may then be another's. team-store.md 4.5, 6.
 *
 * OWN-LEASE-1 Only time that passed here counts, because the clocks of machines differ. A renewal holds for a lease from the moment at
 *    which its statement was handed over, which is not later than the server's moment.
 * OWN-LEASE-2 Two clocks are read, and the one that saw more time pass counts: the monotonic one stands still while a machine sleeps, and
 *    the other one may be set back. One that is set forward makes a claim unsure, which costs a look.
 * OWN-LEASE-3 A renewal that is acknowledged when the one before was over may have come too late: that is a lapse, and what was claimed
 *    before it is unsure from then on.
 */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export function momentNow(): Moment {
  return { monotonicMs: performance.now(), wallMs: Date.now() };
}

/** OWN-LEASE-2 */
function msBetween(from: Moment, to: Moment): number {
  return Math.max(to.monotonicMs - from.monotonicMs, to.wallMs - from.wallMs);
}

export class OwnLease {
  private renewed: Moment | undefined;
  private lapsed = 0;

  constructor(
    private readonly leaseMs: number,
    private readonly now: () => Moment = momentNow,
  ) {}

  /** Counts how often the lease may have run out up to now, as far as renewals have told. */
  get lapses(): number {
    return this.lapsed;
  }

  /** True when no renewal is known to hold now. */
  get mayBeOver(): boolean {
    return this.renewed === undefined || !this.isWithin(this.renewed);
  }

  /** True when what was handed over at this moment took no longer than a lease up to now. */
  isWithin(sent: Moment): boolean {
    return msBetween(sent, this.now()) <= this.leaseMs;
  }

  /** Must be called when the server has acknowledged a renewal. `sent`: when its statement was handed over. OWN-LEASE-1, OWN-LEASE-3 */
  acknowledged(sent: Moment): void {
    if (this.mayBeOver) this.lapsed++;
    if (this.renewed === undefined || sent.monotonicMs > this.renewed.monotonicMs) this.renewed = sent;
  }
}
