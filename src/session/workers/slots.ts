/**
 * The slots of a worker, by lane: how many calls it executes at a time.
 *
 * SLOTS-1 A call begins only when another one has left its slot, which is behind the commit that holds its end: killed, a worker has at
 *    most as many calls in flight as it has slots.
 * SLOTS-2 A slot whose call ends counts as free for taking: the next call is claimed while the end of the last one is committed.
 * SLOTS-3 Such a slot is passed on before that commit to a call of the same journal: the start of that call stands behind the end there,
 *    and is durable before anything is executed, so SLOTS-1 holds. A call of another journal waits for the commit.
 * SLOTS-4 The next one of short calls is claimed while the slot is in use: asking for it would take a good part of its time. A longer call
 *    would keep it from other workers, who may be idle. One statement takes several, because nothing is asked for until half of the slots
 *    have no next call.
 * SLOTS-5 A call that has waited for half a second is left to others, and none is claimed early until a short one has ended again.
 * SLOTS-6 A call that waits for a call inside it, which another run executes, lends its slot meanwhile: that run may wait for workers, and
 *    all slots could be held by calls that wait for it. (Two runs and a worker once waited for each other.) When the call goes on, or where
 *    others inside it do, one more than there are slots is in flight until the next one has ended.
 */
const SHORT_MS_MAX = 250;
/** Half of the shortest lease. */
export const WAITING_MS_MAX = 500;

export class Slots {
  private readonly lanes: ReadonlyMap<string, Lane>;
  private running = 0;

  constructor(
    readonly counts: { readonly [lane: string]: number },
    private readonly monotonicMs: () => number,
  ) {
    this.lanes = new Map(
      Object.entries(counts).map(([lane, count]) => [lane, { count, used: 0, ending: [], waiting: [], latestMs: Infinity }]),
    );
  }

  /** The number of calls that are executed, wait for a slot, or whose end is not committed yet. */
  get inFlight(): number {
    return this.running;
  }

  /** Says that it is time to take calls: a slot has none, or half of those with short calls have no next one. SLOTS-2, SLOTS-4 */
  get isDue(): boolean {
    return [...this.lanes.values()].some((lane) => idleIn(lane) > 0 || (roomIn(lane) > 0 && lane.waiting.length <= earlyIn(lane) / 2));
  }

  /** Says how many calls may be taken in each lane that has room. SLOTS-2 */
  free(): { readonly [lane: string]: number } {
    const rooms = Array.from(this.lanes, ([name, lane]) => [name, roomIn(lane)] as const);
    return Object.fromEntries(rooms.filter(([, room]) => room > 0));
  }

  /**
   * Executes a call as soon as there is a slot. Returns false for a call that was not executed, because it waited too long. `journal` is
   * the one that its end is recorded in. SLOTS-5
   */
  async run(name: string, journal: object, work: (slot: SlotInUse) => Promise<void>): Promise<boolean> {
    const lane = this.lanes.get(name);
    if (lane === undefined) throw new Error(`the worker has no slots in lane ${name}`);
    const slot: Slot = { journal, state: 'held', waits: 0 };
    this.running++;
    try {
      const entering = enter(lane, journal);
      if (entering && !(await entering)) return false;
      const beganMs = this.monotonicMs();
      try {
        await work({
          onEnding: () => {
            lane.latestMs = this.monotonicMs() - beganMs;
            passOn(lane, slot);
          },
          lend: () => lend(lane, slot),
        });
      } finally {
        leave(lane, slot);
      }
      return true;
    } finally {
      this.running--;
    }
  }
}

/** The slot of a call, for its work. */
export interface SlotInUse {
  /** To be called once the end of the call is on its way to its journal. */
  readonly onEnding: () => void;
  /** Lends the slot to other calls; returns what must be called when the call goes on. SLOTS-6 */
  readonly lend: () => () => void;
}

interface Slot {
  readonly journal: object;
  state: 'held' | 'ending' | 'passed on';
  /** The number of calls inside that wait for other runs. */
  waits: number;
}

interface Lane {
  readonly count: number;
  used: number;
  /** Slots that are used, and whose call ends. */
  readonly ending: Slot[];
  readonly waiting: { readonly journal: object; readonly begin: () => void }[];
  /** The call that was the last to end took so long. */
  latestMs: number;
}

/** SLOTS-2, SLOTS-4 */
function roomIn(lane: Lane): number {
  return idleIn(lane) + earlyIn(lane);
}

/** Returns the number of slots that are free, or become it, beyond those of waiting calls. */
function idleIn({ count, used, ending, waiting }: Lane): number {
  return count - used + ending.length - waiting.length;
}

function earlyIn({ used, ending, latestMs }: Lane): number {
  return latestMs < SHORT_MS_MAX ? used - ending.length : 0;
}

function enter(lane: Lane, journal: object): Promise<boolean> | undefined {
  if (lane.used < lane.count) {
    lane.used++;
    return undefined;
  }
  const ending = takeOf(lane.ending, journal);
  if (ending === undefined) return wait(lane, journal);
  ending.state = 'passed on';
  return undefined;
}

/** SLOTS-5 */
function wait(lane: Lane, journal: object): Promise<boolean> {
  return new Promise((resolve) => {
    const begin = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    const waiting = { journal, begin };
    const timer = setTimeout(() => {
      lane.waiting.splice(lane.waiting.indexOf(waiting), 1);
      lane.latestMs = Infinity;
      resolve(false);
    }, WAITING_MS_MAX);
    lane.waiting.push(waiting);
  });
}

/** SLOTS-3 */
function passOn(lane: Lane, slot: Slot): void {
  if (slot.state !== 'held') return;
  const next = lane.used > lane.count ? undefined : takeOf(lane.waiting, slot.journal);
  slot.state = next ? 'passed on' : 'ending';
  if (next) next.begin();
  else lane.ending.push(slot);
}

function leave(lane: Lane, slot: Slot): void {
  if (slot.state === 'passed on') return;
  if (slot.state === 'ending') lane.ending.splice(lane.ending.indexOf(slot), 1);
  makeRoom(lane);
}

function makeRoom(lane: Lane): void {
  const next = lane.used > lane.count ? undefined : lane.waiting.shift();
  if (next) next.begin();
  else lane.used--;
}

/** SLOTS-6 */
function lend(lane: Lane, slot: Slot): () => void {
  if (slot.waits++ === 0) makeRoom(lane);
  return () => {
    if (--slot.waits === 0) lane.used++;
  };
}

/** Removes the first of a journal. */
function takeOf<T extends { readonly journal: object }>(list: T[], journal: object): T | undefined {
  const at = list.findIndex((each) => each.journal === journal);
  return at < 0 ? undefined : list.splice(at, 1)[0];
}
