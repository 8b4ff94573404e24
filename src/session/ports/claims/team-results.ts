/**
 * Claims the calls of a run in the store of a team, and finds what other runs record meanwhile. team-store.md 6.
 *
 * TEAM-RESULTS-1 A call begins when its claim is this run's, or when this run reuses nothing of other runs. A claim decides only who pays:
 *    two runs that both believe to have it record one result nevertheless (4.2).
 * TEAM-RESULTS-2 A result that was recorded before this run began is known to its memo, which did not find it usable: it is refused, and
 *    replaced. One that was recorded since is news, and reused.
 * TEAM-RESULTS-3 A store that can't be reached is waited for, also where a result is there and only can't be read: it was paid for. A run
 *    that must stop claims nothing: then the call is handed to the dispatcher, or to the journal, which refuse it.
 * TEAM-RESULTS-4 A claim that may have been lost is claimed again before the body begins, also where the store is away then: the call may
 *    be paid for elsewhere by now. A run that must stop, or was sealed, begins nothing.
 * TEAM-RESULTS-5 The run of a worker has no memo of other runs: for a call inside an offered one, it reuses of what was recorded before
 *    what the memo of the run that it serves has as usable, so that `--fresh` and invalidations hold inside such a call as well.
 */
import type { ExecutingWorker } from '../../../../journal/storage/offers.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Claimed, ClaimRequest, Claims, RecordedResult } from '../../../../journal/storage/claims.js';
import { JournalError } from '../../../../journal/errors.js';
import type { JournalEvent } from '../../../../journal/event.js';
import type { CallKey, EventRef, OpPath, RunId, RunRef, Workflow } from '../../../../journal/ids.js';
import type { JournalStore, Position } from '../../../../journal/store.js';
import { parentOf } from '../../../../replay/fold/op-path.js';
import { UNEDITED } from '../../../../replay/memo/definitions.js';
import type { PriorRuns } from '../../../../replay/memo/load.js';
import type { OverlayHit } from '../../../../replay/memo/overlay.js';
import { storedResult } from '../../../../replay/memo/stored-result.js';
import { attemptsUsd, paidFor } from '../../../calls/price/paid-for.js';
import type { ClaimedCall, ClaimedCallState, LostClaim, PaidWorker } from '../../../runtime/calls/result-cache.js';
import type { TeamResults } from '../results/result-cache.js';
import { WaitForCall } from './wait-for-call.js';

/** A shorter wait is not reported. */
const REPORT_AFTER_MS = 3000;
const OUTAGE_REPORT_MS = 1000;
const PAUSE_MS = 200;

export interface TeamPorts {
  readonly claims: Claims;
  readonly store: Pick<JournalStore, 'readAt'>;
  readonly workflow: Workflow;
  /** The runs before this one, as its memo was made of them. */
  readonly prior: Pick<PriorRuns, 'sizes'>;
  /** Present in the run of a worker. TEAM-RESULTS-5 */
  readonly served?: ServedResults;
  /** False while results of other runs are not reused. */
  readonly reusesAll: () => boolean;
  /** Aborted when the run must stop. */
  readonly signal: AbortSignal;
  /** No call is made any more. */
  readonly hasStopped: () => boolean;
  readonly monotonicMs: () => number;
  readonly stderr: (text: string) => void;
  readonly onOutage: (error: JournalError | undefined, waitMs: number) => void;
  /** Called when the store can't be used any more. */
  readonly onLost: (error: Error) => void;
}

/** Knows what a run reuses for which a worker executes calls. */
export interface ServedResults {
  /** Rejects with `JournalError`; after STORE_UNREACHABLE, the same may succeed. */
  mayReuse(key: CallKey, result: RecordedResult): Promise<boolean>;
}

export class RunTeamResults implements TeamResults {
  private readonly found = new Map<CallKey, OverlayHit>();
  /** The workers that executed calls which this run had offered. */
  private readonly executedBy = new Map<CallKey, PaidWorker>();
  private readonly reported = new Set<RunId>();
  private readonly lost = new Set<RunId>();
  private outage: { readonly sinceMs: number; isReported: boolean } | undefined;

  constructor(private readonly ports: TeamPorts) {}

  async claim(call: ClaimedCall, refused: EventRef | undefined): Promise<ClaimedCallState> {
    const waiting = new WaitForCall(this.ports, call.onWaiting);
    try {
      return await this.claimOrWait(call, refused, waiting);
    } finally {
      waiting.end();
    }
  }

  private async claimOrWait(call: ClaimedCall, refused: EventRef | undefined, waiting: WaitForCall): Promise<ClaimedCallState> {
    const { key } = call;
    let refusing = refused;
    let holder: RunId | undefined;
    while (!this.mustStop()) {
      const claimed = await this.tryClaim({ key, refused: refusing, isAlone: !this.ports.reusesAll() });
      if (claimed?.kind === 'claimed') {
        if (holder !== undefined) await this.reportLost(holder);
        return { kind: 'claimed', replaces: claimed.replaces };
      }
      if (claimed?.kind === 'answered') {
        if ((await this.mayReuse(key, claimed.by)) && (await this.learn(call, claimed.by)) !== undefined) return claimed;
        refusing = claimed.by; // TEAM-RESULTS-2
        waiting.startAnew();
      } else {
        holder = claimed?.run ?? holder;
        if (claimed && waiting.lastedMs > REPORT_AFTER_MS) this.reportHolder(claimed);
        await waiting.untilNextLook();
      }
    }
    return { kind: 'claimed', replaces: undefined };
  }

  confirm(call: ClaimedCall, refused: EventRef | undefined): Promise<LostClaim | undefined> | undefined {
    return this.ports.claims.mayBeLost(call.key) ? this.claimAgain(call, refused) : undefined;
  }

  /** TEAM-RESULTS-4 */
  private async claimAgain({ key }: ClaimedCall, refused: EventRef | undefined): Promise<LostClaim | undefined> {
    const { claims, reusesAll } = this.ports;
    while (!this.mustStop()) {
      const claimed = await this.whileReachable(() => claims.claimAgain({ key, refused, isAlone: !reusesAll() }));
      if (claimed === 'sealed') break;
      if (claimed === 'away') await this.pause();
      else if (claimed.kind === 'taken') return { to: claimed.run };
      else if (claimed.kind === 'answered') return { to: claimed.by.run };
      else if (!claims.mayBeLost(key)) return undefined;
    }
    return { to: undefined };
  }

  giveBack(key: CallKey): void {
    this.ports.claims.giveBack(key);
  }

  find(key: CallKey): OverlayHit | undefined {
    return this.found.get(key);
  }

  decline({ run, seq }: EventRef): void {
    for (const [key, { entry }] of this.found) {
      if (entry.result.ref.run === run && entry.result.seq === seq) this.found.delete(key);
    }
  }

  takeWorkerOf(key: CallKey): PaidWorker | undefined {
    const worker = this.executedBy.get(key);
    this.executedBy.delete(key);
    return worker;
  }

  async learn({ key, fn }: ClaimedCall, { run, seq, position }: RecordedResult, worker?: ExecutingWorker): Promise<OverlayHit | undefined> {
    const ref = { workflow: this.ports.workflow, run };
    const event = await this.read(ref, position);
    if (event?.type !== 'call.completed' || event.key !== key || event.seq !== seq || 'redacted' in event.result) return undefined;
    const result = { ...storedResult(event, { ref, position }, undefined), costUsd: attemptsUsd(event) };
    const about = { site: undefined, declared: undefined, preview: undefined, attempt: undefined, scope: undefined, inside: [] };
    const hit = { entry: { fn, fingerprint: undefined, ...about, result }, forkSource: undefined, edit: UNEDITED };
    this.found.set(key, hit);
    if (worker !== undefined && isServed(event.op)) this.executedBy.set(key, { ...worker, costUsd: paidFor(event) });
    return hit;
  }

  /** Undefined for an event that is damaged, and when this run must stop. A store that is away is waited for: TEAM-RESULTS-3. */
  async read(ref: RunRef, position: Position): Promise<JournalEvent | undefined> {
    const { store } = this.ports;
    const readable = async (): Promise<JournalEvent | undefined> => {
      try {
        return await store.readAt(ref, position);
      } catch (error) {
        if (error instanceof JournalError && error.code === 'STORE_UNREACHABLE') throw error;
        return undefined; // the call is executed instead
      }
    };
    while (!this.mustStop()) {
      const event = await this.whileReachable(readable);
      if (event !== 'away') return event === 'sealed' ? undefined : event;
      await this.pause();
    }
    return undefined;
  }

  /** TEAM-RESULTS-2 */
  isNews(result: RecordedResult): boolean {
    return isNewsFor(this.ports.prior, result);
  }

  /** False, too, when this run must stop. TEAM-RESULTS-5 */
  private async mayReuse(key: CallKey, result: RecordedResult): Promise<boolean> {
    const { served } = this.ports;
    if (served === undefined) return this.isNews(result);
    while (!this.mustStop()) {
      const may = await this.whileReachable(() => served.mayReuse(key, result));
      if (may !== 'away') return may === true;
      await this.pause();
    }
    return false;
  }

  /** Undefined when the store could not be asked: the caller tries again, or must stop. TEAM-RESULTS-3 */
  async tryClaim(request: ClaimRequest): Promise<Claimed | undefined> {
    const claimed = await this.whileReachable(() => this.ports.claims.claim(request));
    if (claimed === 'sealed') return { kind: 'claimed', replaces: undefined }; // the journal takes no `call.started`
    return claimed === 'away' ? undefined : claimed;
  }

  /** `away`: the store could not be asked, and the caller tries again, or must stop. TEAM-RESULTS-3 */
  async whileReachable<T>(ask: () => Promise<T>): Promise<T | 'away' | 'sealed'> {
    const { claims, monotonicMs, onOutage, onLost } = this.ports;
    try {
      const answer = await ask();
      if (this.outage?.isReported) onOutage(undefined, claims.waitMs);
      this.outage = undefined;
      return answer;
    } catch (error) {
      if (!(error instanceof JournalError)) throw error;
      if (error.code === 'STORE_SEALED') return 'sealed';
      this.outage ??= { sinceMs: monotonicMs(), isReported: false };
      const lastedMs = monotonicMs() - this.outage.sinceMs;
      if (error.code !== 'STORE_UNREACHABLE' || lastedMs >= claims.waitMs) onLost(error);
      else if (!this.outage.isReported && lastedMs >= Math.min(OUTAGE_REPORT_MS, claims.waitMs / 2)) {
        this.outage.isReported = true;
        onOutage(error, claims.waitMs);
      }
      return 'away';
    }
  }

  /** Waits a moment, or until the run must stop. */
  async pause(ms = PAUSE_MS): Promise<void> {
    await sleep(ms, undefined, { signal: this.ports.signal }).catch(() => undefined); // the caller looks at the signal
  }

  mustStop(): boolean {
    return this.ports.signal.aborted || this.ports.hasStopped();
  }

  private reportHolder({ run, host }: Extract<Claimed, { kind: 'taken' }>): void {
    if (this.reported.has(run)) return;
    this.reported.add(run);
    this.ports.stderr(`waiting for calls that run ${run}${host === '' ? '' : ` on ${host}`} is making\n`);
  }

  /** A user who waits wants to know why the calls of the other run are paid for here as well. */
  private async reportLost(run: RunId): Promise<void> {
    if (!this.reported.has(run) || this.lost.has(run)) return;
    this.lost.add(run);
    const isLost = await this.ports.claims.isLost(run).catch(() => false); // whoever looks next says that the store is away
    if (isLost) this.ports.stderr(`run ${run} has not been heard of for its lease: the calls that it was making are executed here\n`);
  }
}

/** True for a result that was recorded after the prior runs were loaded. */
export function isNewsFor({ sizes }: Pick<PriorRuns, 'sizes'>, { run, position }: RecordedResult): boolean {
  return position.offset >= (sizes.get(run) ?? 0);
}

/** False for a call that a worker executed inside another one, which has its cost: the calls that it serves are the outermost ones. */
function isServed(op: OpPath): boolean {
  const outer = parentOf(op);
  return outer !== undefined && parentOf(outer) === undefined;
}
