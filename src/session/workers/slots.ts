/**
 * The slots of a worker, by lane: how many calls it executes at a time.
 *
 * SLOTS-1 A call begins only when another one has left its slot, which is behind the commit that holds its end: killed, a worker has at
 *    most as many calls in flight as it has slots.
 * SLOTS-2 A slot whose call ends counts as free for taking: the next call is claimed while the end of the last one is committed, and
 *    waits for that.
 */
export class Slots {
  private readonly lanes: ReadonlyMap<string, Lane>;

  constructor(readonly counts: { readonly [lane: string]: number }) {
    this.lanes = new Map(Object.entries(counts).map(([lane, count]) => [lane, { count, used: 0, ending: 0, waiting: [] }]));
  }

  /** The number of calls that are executed, or wait for a slot. */
  get inFlight(): number {
    return [...this.lanes.values()].reduce((sum, { used, waiting }) => sum + used + waiting.length, 0);
  }

  get hasFree(): boolean {
    return Object.keys(this.free()).length > 0;
  }

  /** Says how many calls may be taken in each lane that has room. SLOTS-2 */
  free(): { readonly [lane: string]: number } {
    const rooms = Array.from(this.lanes, ([name, lane]) => [name, lane.count - lane.used + lane.ending - lane.waiting.length] as const);
    return Object.fromEntries(rooms.filter(([, room]) => room > 0));
  }

  /** Executes a call as soon as there is a slot. `work` calls `onEnding` once its end is on its way to the journal. */
  async run(name: string, work: (onEnding: () => void) => Promise<void>): Promise<void> {
    const lane = this.lanes.get(name);
    if (lane === undefined) throw new Error(`the worker has no slots in lane ${name}`);
    if (lane.used >= lane.count)
      await new Promise<void>((resolve) => lane.waiting.push(resolve)); // SLOTS-1
    else lane.used++;
    let isEnding = false;
    try {
      await work(() => {
        if (!isEnding) lane.ending++;
        isEnding = true;
      });
    } finally {
      if (isEnding) lane.ending--;
      const next = lane.waiting.shift();
      if (next) next();
      else lane.used--;
    }
  }
}

interface Lane {
  readonly count: number;
  used: number;
  /** Slots that are used, and whose call ends. */
  ending: number;
  readonly waiting: (() => void)[];
}
