/** Opens the lanes of a run, teaches them, and records what they learn. calls.md 12. */
import type { Headers } from '../evidence/times.js';
import { announcedLimits } from '../lanes/announced-limits.js';
import { laneFact, openLane, type Lane, type LanePorts, type Lesson } from './lane.js';
import type { DispatchRecord, LearnedPace, RecordedChange, Started } from './ports.js';

/** A person is told of waits that are as long, and begins to wonder. */
const LONG_WAIT_MS = 60_000;

export class Lanes {
  private readonly lanes = new Map<string, Lane<Started>>();
  private readonly toldUntilMs = new Map<string, number>();
  /** Set when the journal is open. */
  journal: DispatchRecord | undefined;
  /** Holds the limits that earlier runs learned. */
  learned: LearnedPace['lanes'] | undefined;

  /** `onHeard` is called when a lane has learned from other processes. */
  constructor(
    private readonly ports: LanePorts,
    private readonly onHeard: (lane: Lane<Started>) => void,
  ) {}

  get(name: string): Lane<Started> | undefined {
    return this.lanes.get(name);
  }

  [Symbol.iterator](): IterableIterator<Lane<Started>> {
    return this.lanes.values();
  }

  open(name: string): Lane<Started> {
    const known = this.lanes.get(name);
    if (known) return known;
    const sharing = this.journal?.sharing;
    const learned = sharing?.learned(name) ?? this.learned?.get(name);
    const lane = openLane<Started>(name, this.ports, learned);
    this.lanes.set(name, lane);
    this.record(lane, { ...lane.limiter.limits, why: learned ? 'restored' : 'began' });
    sharing?.opened({
      name,
      limiter: lane.limiter,
      isWaiting: () => lane.waiting.length > 0,
      heard: (changes) => {
        for (const change of changes) this.record(lane, change);
        this.onHeard(lane);
      },
    });
    return lane;
  }

  teach(lane: Lane<Started>, lesson: Lesson): void {
    if ((lesson.retryAfterMs ?? 0) >= LONG_WAIT_MS && lesson.outcome !== 'other') this.tellWait(lane.name, lesson.retryAfterMs ?? 0);
    const change = lane.learn(lesson, this.ports.monotonicMs());
    if (!change) return;
    this.record(lane, change);
    this.journal?.sharing?.changed(lane.name);
  }

  /** Says it once: several attempts are rejected at the same time. */
  private tellWait(name: string, leftMs: number): void {
    const untilMs = this.ports.nowMs() + leftMs;
    if (untilMs - (this.toldUntilMs.get(name) ?? 0) < LONG_WAIT_MS) return;
    this.toldUntilMs.set(name, untilMs);
    this.journal?.waits?.(name, untilMs, 'asked');
  }

  announce(lane: Lane<Started>, headers: Headers, nowMs: number): void {
    const wallMs = this.ports.nowMs();
    const limits = announcedLimits(headers, wallMs).map((limit) => ({ ...limit, resetsAtMs: limit.resetsAtMs - wallMs + nowMs }));
    if (lane.announced.announce(limits, nowMs)) this.record(lane, { ...lane.limiter.limits, why: 'told' });
  }

  /** A later run begins with the last change: each one names the moment from which an attempt may start, whatever holds the lane. */
  private record(lane: Lane<Started>, change: RecordedChange): void {
    const { monotonicMs, nowMs } = this.ports;
    const atMs = monotonicMs();
    const announcedMs = lane.announced.waitMs(atMs);
    const held = announcedMs > 0 ? { heldUntilMs: Math.max(change.heldUntilMs ?? 0, atMs + announcedMs) } : {};
    this.journal?.record(laneFact(lane.name, { ...change, ...held }, atMs, nowMs));
  }
}
