/**
 * Adds what the calls inside one call have cost, in all its attempts: a result that is reused saves this, too. calls.md 10.6.
 *
 * INSIDE-1 A result counts once: one that an attempt paid for or reused is often given to the next attempt, or to the same one again.
 */
import { addKnownUsd } from '../../journal/facts/add-usd.js';
import type { CallKey } from '../../journal/ids.js';

export class CostsInside {
  /** Undefined while no cost is known. */
  usd: number | undefined;
  /** The part of it that reused results had cost; undefined while none is known. */
  reusedUsd: number | undefined;
  private readonly counted = new Set<CallKey>();

  /** Adds the cost of an attempt that was executed; `key` where it gave a result. */
  paid(usd: number, key: CallKey | undefined): void {
    if (key !== undefined) this.counted.add(key);
    this.usd = addKnownUsd(this.usd, usd);
  }

  /** Adds what the call of a reused result had cost, and the calls inside that. */
  reused(usd: number, key: CallKey): void {
    if (this.counted.has(key)) return; // INSIDE-1
    this.paid(usd, key);
    this.reusedUsd = addKnownUsd(this.reusedUsd, usd);
  }
}
