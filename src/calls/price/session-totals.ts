/**
 * Takes the earlier turns of a continued session off the cost that its reply tells, which is that of the whole session. calls.md 7.5.5.
 */
import { addUsd } from '../../../journal/facts/add-usd.js';
import type { ReadReply } from '../replies/read-reply.js';
import type { ReportedUsage } from '../replies/reply.js';

/** The cost of one attempt of a session. */
export interface SessionCost {
  readonly session: string;
  readonly usage: Pick<ReportedUsage, 'costUsd' | 'sessionCostUsd'>;
}

export class SessionTotals {
  private readonly largest = new Map<string, number>();
  /** Results that were reused: they are looked at when a session is continued. */
  private reused: (() => SessionCost | undefined)[] = [];

  /** Keeps the larger total. */
  add(session: string, totalUsd: number): void {
    this.largest.set(session, Math.max(this.largest.get(session) ?? 0, totalUsd));
  }

  addReused(result: () => SessionCost | undefined): void {
    this.reused.push(result);
  }

  /** Returns the reply with the cost of its own turn. `continued` is the session that the command line names, or true for the last one. */
  ownCost(reply: ReadReply, continued: string | true | undefined): ReadReply {
    const { session, usage } = reply;
    const totalUsd = usage?.costUsd;
    if (reply.adapter !== 'claude' || session === undefined || totalUsd === undefined) return reply;
    const known = continued === undefined ? undefined : this.known(session, continued);
    this.add(session, totalUsd);
    return continued === undefined ? reply : { ...reply, usage: shareOf(usage, totalUsd, known) };
  }

  private known(session: string, continued: string | true): number | undefined {
    for (const result of this.reused) {
      const found = result();
      if (found) this.addFrom(found);
    }
    this.reused = [];
    const totals = [session, continued].flatMap((name) => (name === true ? [] : (this.largest.get(name) ?? [])));
    return totals.length === 0 ? undefined : Math.max(...totals);
  }

  private addFrom({ session, usage: { costUsd, sessionCostUsd = costUsd } }: SessionCost): void {
    if (sessionCostUsd !== undefined) this.add(session, sessionCostUsd);
  }
}

/** A smaller total than the known one is of a session that began anew. */
function shareOf(usage: ReportedUsage | undefined, totalUsd: number, knownUsd: number | undefined): ReportedUsage {
  if (knownUsd === undefined || knownUsd > totalUsd) return { ...usage, estimated: true };
  return { ...usage, costUsd: addUsd(totalUsd, -knownUsd), sessionCostUsd: totalUsd };
}
