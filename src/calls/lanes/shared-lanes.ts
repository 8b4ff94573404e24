/**
 * Makes the lanes of all processes of a project one: each hears which attempts of the others start and how they end, and lets its own
 * limiters learn from them as from its own. team-store.md 8.
 *
 * SHARED-LANES-1 All processes hear the same events in the same order, so their limiters know the same limit, gap and hold, and count the
 *    attempts in flight of all. Between two exchanges a limiter may lag behind.
 * SHARED-LANES-2 A start counts only when its process had heard everything before it, where limits were met or nothing was heard for a
 *    while; else it is taken back, and the lane decides anew. Elsewhere starts are not waited for.
 * SHARED-LANES-5 An attempt teaches its lane behind what was heard before its end, as in the other processes; until then nothing starts.
 * SHARED-LANES-3 While the store does not answer, each process goes by what it knows.
 * SHARED-LANES-4 Attempts of a process that is gone are in flight no longer: whoever counts them asks for it.
 * SHARED-LANES-6 Whatever is queued is sent by an exchange, or its caller is told that the store did not answer: nobody waits for an
 *    exchange that nobody begins.
 * SHARED-LANES-7 The attempts of a process count no longer for the others while all of them wait for calls inside them, and these for
 *    places: two processes that wait for each other's places would do so for ever. What such attempts do later counts only here.
 */
import type { HeardEvent, LaneEvent, LaneLog, LaneState, LearnedLimits } from '../../../journal/postgres/limits/shared-lanes.js';
import type { RunRef } from '../../../journal/ids.js';
import type { LaneChange, LaneLimits, Start } from './lane-limits.js';
import type { AttemptEnding, LaneSharing, SharedLane } from './lane-sharing.js';

/** Attempts that wait for those of other processes hear of their ends so soon. */
const POLL_MS = 200;
/** A process that has heard nothing for so long hears the others before it starts an attempt. */
const FRESH_MS = 2000;
/** So many ends of attempts are kept for a store that does not answer. */
const UNSENT_MAX = 1000;

interface SharedLanesPorts {
  readonly log: LaneLog;
  readonly run: RunRef;
  /** The name of a lane in the store. */
  readonly nameOf: (lane: string) => string;
  readonly monotonicMs: () => number;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

interface Queued {
  readonly event: LaneEvent;
  /** The start that others may be quicker than. */
  readonly start: Start | undefined;
  readonly resolve: ((isTaken: boolean) => void) | undefined;
}

class Channel {
  seen = 0;
  heardMs = -Infinity;
  queue: Queued[] = [];
  isSending = false;
  timer: NodeJS.Timeout | undefined;
  hasLearned = false;
  /** Attempts of this run that have ended, and taught nothing yet. */
  unlearned = 0;
  /** Attempts of other runs that are in flight. */
  readonly others = new Map<string, Map<number, Start>>();

  constructor(readonly lane: SharedLane) {}
}

export class SharedLanes implements LaneSharing {
  private readonly channels = new Map<string, Channel>();
  private readonly ids = new Map<Start, number>();
  private states: ReadonlyMap<string, LaneState> = new Map();
  private lastId = 0;

  constructor(private readonly ports: SharedLanesPorts) {}

  async learn(): Promise<void> {
    const states = await this.ports.log.states().catch((): readonly LaneState[] => []); // SHARED-LANES-3
    this.states = new Map(states.map((state) => [state.lane, state]));
  }

  learned(lane: string): LaneLimits | undefined {
    const limits = this.states.get(this.ports.nameOf(lane))?.limits;
    if (limits === undefined) return undefined;
    const { heldMs, ...others } = limits;
    return { ...others, ...(heldMs !== undefined && { heldUntilMs: this.ports.nowMs() + heldMs }) };
  }

  opened(lane: SharedLane): void {
    const channel = new Channel(lane);
    this.channels.set(lane.name, channel);
    const state = this.states.get(this.ports.nameOf(lane.name));
    if (state === undefined) return;
    channel.seen = state.seen;
    this.hear(channel, state.starts);
  }

  take(lane: string, start: Start): Promise<boolean> {
    const channel = this.channels.get(lane);
    if (channel === undefined) return Promise.resolve(true);
    const id = ++this.lastId;
    this.ids.set(start, id);
    const isExact = channel.lane.limiter.isTight || this.ports.monotonicMs() - channel.heardMs > FRESH_MS;
    const event = { kind: 'start', id, waited: start.waited } as const;
    if (!isExact) {
      this.send(channel, { event, start: undefined, resolve: undefined });
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const decided = (isTaken: boolean): void => {
        if (!isTaken) this.ids.delete(start);
        resolve(isTaken);
      };
      this.send(channel, { event, start, resolve: decided });
    });
  }

  ended(lane: string, start: Start, { outcome: how, retryAfterMs }: AttemptEnding, learn: () => void): void {
    const id = this.ids.get(start);
    const channel = this.channels.get(lane);
    if (id === undefined || channel === undefined) return learn(); // it was not taken
    this.ids.delete(start);
    channel.unlearned++;
    const learned = (): void => {
      channel.unlearned--;
      learn();
    };
    const event = { kind: 'end', id, how, ...(retryAfterMs !== undefined && { retryAfterMs }) } as const;
    this.send(channel, { event, start: undefined, resolve: learned });
  }

  left(lane: string, start: Start): void {
    const id = this.ids.get(start);
    const channel = this.channels.get(lane);
    if (id === undefined || channel === undefined) return;
    this.ids.delete(start);
    this.send(channel, { event: { kind: 'end', id, how: 'other' }, start: undefined, resolve: undefined });
  }

  isSettled(lane: string): boolean {
    return (this.channels.get(lane)?.unlearned ?? 0) === 0;
  }

  changed(lane: string): void {
    const channel = this.channels.get(lane);
    if (channel) channel.hasLearned = true;
  }

  follow(lane: string): void {
    const channel = this.channels.get(lane);
    if (channel === undefined) return;
    channel.timer ??= setTimeout(() => {
      channel.timer = undefined;
      if (!channel.lane.isWaiting() && channel.queue.length === 0) return;
      void this.exchange(channel).then(() => this.follow(lane));
    }, POLL_MS);
    if (channel.lane.isWaiting()) channel.timer.ref();
    else channel.timer.unref(); // a run that has ended waits for no store: the others learn from its end that nothing of it is in flight
  }

  private send(channel: Channel, queued: Queued): void {
    channel.queue.push(queued);
    void this.exchange(channel);
  }

  /** One at a time: what comes meanwhile goes with the next. SHARED-LANES-6 */
  private async exchange(channel: Channel): Promise<void> {
    if (channel.isSending) return;
    channel.isSending = true;
    let isAnswered: boolean;
    do isAnswered = await this.exchangeOnce(channel);
    while (isAnswered && (channel.queue.length > 0 || channel.hasLearned));
    if (isAnswered)
      channel.isSending = false; // in the step of the last look; `exchangeOnce` does it where there was no answer
    else if (channel.queue.length > 0) this.follow(channel.lane.name);
  }

  /** False when the store did not answer. */
  private async exchangeOnce(channel: Channel): Promise<boolean> {
    const { log, run, nameOf } = this.ports;
    const sent = channel.queue;
    channel.queue = [];
    const limits = channel.hasLearned ? this.limitsOf(channel.lane) : undefined;
    channel.hasLearned = false;
    const isExact = sent.some(({ start }) => start !== undefined);
    const events = sent.map(({ event }) => event);
    const others = [...channel.others].flatMap(([other, starts]) => (starts.size > 0 ? [other] : []));
    try {
      const { seen, isTaken, heard } = await log.exchange({
        run,
        lane: nameOf(channel.lane.name),
        seen: channel.seen,
        events,
        isExact,
        limits,
        others,
      });
      channel.seen = seen;
      channel.heardMs = this.ports.monotonicMs();
      const undone = heard.length === 0 && isTaken ? [] : this.takeBack(channel, isTaken ? [] : sent);
      this.hear(channel, heard);
      for (const queued of sent) if (!undone.includes(queued)) queued.resolve?.(true);
      for (const { resolve } of undone) resolve?.(false);
      return true;
    } catch {
      const unsent = [...sent, ...channel.queue];
      const ends = unsent.flatMap(({ event }) => (event.kind === 'end' ? { event, start: undefined, resolve: undefined } : []));
      channel.queue = ends.slice(-UNSENT_MAX); // with the next exchange: others count these attempts until they hear of their ends
      channel.isSending = false; // SHARED-LANES-6: those who are told now may have something to send
      for (const { resolve } of unsent) resolve?.(true); // SHARED-LANES-3
      return false;
    }
  }

  /** SHARED-LANES-2: also those that are not sent yet were decided before the others were heard. */
  private takeBack(channel: Channel, refused: readonly Queued[]): readonly Queued[] {
    const undone = [...refused, ...channel.queue].filter(({ start }) => start !== undefined);
    channel.queue = channel.queue.filter(({ start }) => start === undefined);
    for (const { start } of undone) if (start) channel.lane.limiter.takeBack(start);
    return undone;
  }

  private limitsOf({ limiter }: SharedLane): LearnedLimits {
    const { heldUntilMs, ...limits } = limiter.limits;
    const heldMs = heldUntilMs === undefined ? 0 : heldUntilMs - this.ports.monotonicMs();
    return { ...limits, ...(heldMs > 0 && { heldMs }) };
  }

  /** SHARED-LANES-1 */
  private hear({ lane, others }: Channel, heard: readonly HeardEvent[]): void {
    if (heard.length === 0) return;
    const nowMs = this.ports.monotonicMs();
    const changes: LaneChange[] = [];
    for (const { run, event, agoMs } of heard) {
      const starts = others.get(run) ?? new Map<number, Start>();
      others.set(run, starts);
      const change = apply(lane, starts, event, nowMs - Math.max(0, agoMs));
      if (change) changes.push(change);
    }
    lane.heard(changes);
  }
}

function apply({ limiter }: SharedLane, starts: Map<number, Start>, event: HeardEvent['event'], atMs: number): LaneChange | undefined {
  if (event.kind === 'gone') {
    for (const start of starts.values()) limiter.left(start); // SHARED-LANES-4
    starts.clear();
    return undefined;
  }
  if (event.kind === 'start') {
    if (!starts.has(event.id)) starts.set(event.id, limiter.start(atMs, event.waited));
    return undefined;
  }
  const start = starts.get(event.id);
  if (start === undefined) return undefined; // it began before this process heard anything
  starts.delete(event.id);
  switch (event.how) {
    case 'accepted':
      return limiter.accepted(start, atMs);
    case 'rejected':
      return limiter.rejected(start, atMs, event.retryAfterMs);
    case 'alone':
      return limiter.rejectedAlone(start, atMs, event.retryAfterMs);
    default:
      limiter.left(start);
      return undefined;
  }
}
