/** The log of the lanes that all processes of a project share, in memory and in the time of the test. team-store.md 8. */
import type { HeardEvent, LaneExchange, LaneLog, LaneRequest, LearnedLimits } from '../../journal/postgres/limits/shared-lanes.js';

const now = (): number => performance.now();
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Does the same as the function `exchange` of the store. */
export class FakeLaneLog implements LaneLog {
  readonly events: { readonly run: string; readonly event: LaneRequest['events'][number]; readonly atMs: number }[] = [];
  readonly gone = new Set<string>();
  isAway = false;
  exchanges = 0;
  limits: LearnedLimits | undefined;

  constructor(
    private readonly roundTripMs: number,
    private readonly lane = 'claude',
  ) {}

  async exchange({ run, seen, events, isExact, limits, others }: LaneRequest): Promise<LaneExchange> {
    this.exchanges++;
    await sleep(this.roundTripMs / 2);
    if (this.isAway) throw new Error('away');
    const behind = this.events.slice(seen).filter((event) => event.run !== run.run);
    const isTaken = !isExact || behind.length === 0;
    this.limits = limits ?? this.limits;
    for (const event of events) if (isTaken || event.kind !== 'start') this.events.push({ run: run.run, event, atMs: now() });
    const end = this.events.length;
    await sleep(this.roundTripMs / 2);
    const heard: HeardEvent[] = behind.map(({ atMs, ...each }) => ({ ...each, agoMs: now() - atMs }));
    for (const other of others) if (this.gone.has(other)) heard.push({ run: other, event: { kind: 'gone' }, agoMs: 0 });
    return { seen: end, isTaken, heard };
  }

  async states() {
    const ended = new Set(this.events.map(({ run, event }) => (event.kind === 'end' ? `${run} ${event.id}` : '')));
    const starts = this.events.filter(
      ({ run, event }) => event.kind === 'start' && !this.gone.has(run) && !ended.has(`${run} ${event.id}`),
    );
    return this.events.length === 0
      ? []
      : [
          {
            lane: this.lane,
            seen: this.events.length,
            limits: this.limits,
            starts: starts.map(({ atMs, ...each }) => ({ ...each, agoMs: now() - atMs })),
          },
        ];
  }
}
