/** Counts the calls of a run and what they cost up to now, recorded or not: `@mx.usage` shows it. calls.md 10.6 and 10.7. */
import { sumUsd } from '../../../journal/facts/add-usd.js';
import type { Usage } from '../../../journal/facts/call-event.js';
import type { DataObject } from '../../values/value.js';

export class RunUsage {
  private attempts = 0;
  private executed = 0;
  private reused = 0;
  private failed = 0;
  private unpriced = 0;
  /** Null until something is known: an unknown sum is not 0. */
  private inputTokens: number | null = null;
  private outputTokens: number | null = null;
  private spentUsd: number | null = null;
  private savedUsd: number | null = null;

  /** `isFree`: the provider turned the attempt away, or it only made calls: it cost nothing although it reported nothing. */
  attemptEnded(usage: Usage | undefined, isFree: boolean): void {
    this.attempts++;
    this.inputTokens = plus(this.inputTokens, usage?.inputTokens);
    this.outputTokens = plus(this.outputTokens, usage?.outputTokens);
    this.spentUsd = sumUsd(this.spentUsd, usage?.costUsd);
    if (usage?.costUsd === undefined && !isFree) this.unpriced++;
  }

  callEnded(how: 'executed' | 'failed'): void {
    this[how]++;
  }

  callReused(savedUsd: number | undefined): void {
    this.reused++;
    this.savedUsd = sumUsd(this.savedUsd, savedUsd);
  }

  get costUsd(): number | null {
    return this.spentUsd;
  }

  view(): DataObject {
    const { attempts, executed, reused, failed, inputTokens, outputTokens, spentUsd: costUsd, unpriced, savedUsd } = this;
    const calls = executed + reused + failed;
    return { calls, attempts, executed, reused, failed, inputTokens, outputTokens, costUsd, unpriced, savedUsd };
  }
}

function plus(sum: number | null, more: number | undefined): number | null {
  return more === undefined ? sum : (sum ?? 0) + more;
}
