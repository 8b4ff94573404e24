/** Says what calls wait for that no worker takes. team-store.md 7.2. */
import type { Offers } from '../../../../journal/storage/offers.js';
import { JournalError } from '../../../../journal/errors.js';
import { shellWords } from '../../../../journal/shell-words.js';

/** A lane that no worker has is reported after so long; that no worker is there, each time it lasted so long. */
const LANE_AFTER_MS = 10_000;
const NOBODY_EVERY_MS = 30_000;

interface Waiting {
  readonly lane: string;
  readonly sinceMs: number;
}

interface ReportPorts {
  readonly offers: Pick<Offers, 'workers'>;
  readonly waiting: () => Iterable<Waiting>;
  readonly monotonicMs: () => number;
  readonly stderr: (text: string) => void;
}

export class OfferReports {
  private readonly lanes = new Set<string>();
  private nobodySinceMs: number | undefined;
  private lookedMs = -Infinity;

  constructor(private readonly ports: ReportPorts) {}

  async report(isProgress: boolean): Promise<void> {
    const { monotonicMs, waiting } = this.ports;
    const nowMs = monotonicMs();
    if (isProgress) this.nobodySinceMs = undefined;
    const oldestMs = Math.min(...Array.from(waiting(), ({ sinceMs }) => sinceMs), Infinity);
    if (nowMs - oldestMs < LANE_AFTER_MS || nowMs - this.lookedMs < LANE_AFTER_MS) return;
    this.lookedMs = nowMs;
    await this.look(nowMs, oldestMs).catch((error: unknown) => {
      if (!(error instanceof JournalError)) throw error; // the run says otherwise that the store is away
    });
  }

  private async look(nowMs: number, oldestMs: number): Promise<void> {
    const { offers, waiting, stderr } = this.ports;
    const { alive, lanes } = await offers.workers();
    const counts = new Map<string, number>();
    for (const { lane, sinceMs } of waiting()) if (nowMs - sinceMs >= LANE_AFTER_MS) counts.set(lane, (counts.get(lane) ?? 0) + 1);
    for (const [lane, count] of counts) {
      if (lane === '' || lanes.has(lane) || this.lanes.has(lane)) continue;
      this.lanes.add(lane);
      stderr(`${calls(count)} in the lane ${JSON.stringify(lane)}, and no worker has slots for it: ${commandFor([lane])}\n`);
    }
    if (alive > 0) return void (this.nobodySinceMs = undefined);
    this.nobodySinceMs ??= oldestMs;
    if (nowMs - this.nobodySinceMs < NOBODY_EVERY_MS) return;
    this.nobodySinceMs = nowMs;
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const start = commandFor([...counts.keys()].sort());
    stderr(`${calls(total)} for a worker, and none is at work: start ${start}, or run again with --lanes 4 as well\n`);
  }
}

/** Starts a worker with slots for these lanes; the empty name stands for calls without one. */
function commandFor(lanes: readonly string[]): string {
  const slots = lanes.flatMap((lane) => (lane === '' ? ['--lanes', '8'] : ['--lane', `${lane}=4`]));
  return shellWords(['mlld', 'worker', ...slots]);
}

function calls(count: number): string {
  return count === 1 ? '1 call waits' : `${count} calls wait`;
}
