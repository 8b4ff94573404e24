/**
 * A worker: takes calls over that runs of a project offer, and executes them. team-store.md 7.
 *
 * WORKER-1 It has one run for each run that it serves, which ends when that one has ended, or is dead, and nothing of it is in flight.
 * WORKER-2 Asked to stop, it takes nothing new, ends what it holds, and then its runs.
 * WORKER-3 When the store takes nothing more of one of its runs, it takes nothing new either: what is in flight ends in a salvage run.
 * WORKER-4 A store that is away is waited for: without an end, where the worker has none. Asked to stop meanwhile, it leaves what it has
 *    paid for in its spill.
 * WORKER-5 A call that has waited for its slot too long is left to others: where the process was stopped meanwhile, its lease may have run
 *    out, and the call may be executed elsewhere.
 * WORKER-6 One that ends when nothing is left waits for what a run that it serves offers next: the calls that follow from a result are
 *    offered when the run has it. (It once left behind the first call of each parallel loop, which runs alone.)
 * WORKER-7 Nor does it end before each run that has claimed an offered call has renewed its lease: that of a killed worker does not, and
 *    when its lease has run out, its calls are free. (It once ended at once, and a run waited for the last calls of a killed worker.)
 */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAway, JournalError } from '../../../journal/errors.js';
import type { WithWorkers } from '../../../journal/postgres/open-store.js';
import type { Holders, OfferingRun, TakenOffer, Taking, TeamWorkers, WorkerFacts } from '../../../journal/storage/workers.js';
import type { JournalStore } from '../../../journal/store.js';
import { MlldError } from '../../errors.js';
import type { OfferedCall } from '../../runtime/calls/offered-call.js';
import { VERSION } from '../../version.js';
import { makeWorkerFolder, removeFolder } from '../../world/files/worker-folders.js';
import { hostFacts, randomFraction } from '../../world/host.js';
import { createLiveWorld } from '../../world/live.js';
import { withoutOwnSecrets } from '../../world/own-secrets.js';
import { sealingKeyFor } from '../ports/sealing-key.js';
import type { Project } from '../project.js';
import { openRecordingStore } from '../project-store.js';
import type { RunIo, RunOptions } from '../script/run-options.js';
import { readOffer, UNREADABLE } from './read-offer.js';
import { ServedCalls, type ServedPorts } from './served-calls.js';
import { Slots, WAITING_MS_MAX, type SlotInUse } from './slots.js';
import { StoreOutages } from './store-outages.js';

const LOOK_FIRST_MS = 100;
const LOOK_MAX_MS = 2000;
/** Slots that become free so soon after each other are filled by one statement. */
const GATHER_MS = 1;
/** Runs that are served are looked at so often. */
const UPKEEP_MS = 5000;
/** A run that misses a hint looks for results after two seconds. WORKER-6 */
const NEXT_OFFERS_MS = 5000;
const NEXT_OFFERS_LOOK_MS = 250;
const LISTEN_MS = 60_000;

export interface WorkerOptions {
  /** Names the store. */
  readonly project: Project;
  readonly environment: { readonly [name: string]: string | undefined };
  readonly io: RunIo;
  /** Calls at a time, by lane; the empty name stands for calls without a lane. */
  readonly slots: { readonly [lane: string]: number };
  /** Calls are executed in this folder; undefined: each in an empty one. */
  readonly root?: string | undefined;
  readonly name?: string | undefined;
  /** End when nothing is offered and nothing is held. */
  readonly once: boolean;
  /** Aborted: takes nothing new, and ends what it holds. */
  readonly leaving: AbortSignal;
  readonly openStore?: () => Promise<JournalStore>;
  /** Called once, when the store has answered what it has for this worker. */
  readonly onReady?: () => void;
}

export interface WorkerReport {
  readonly name: string;
  readonly executed: number;
  readonly failed: number;
  /** Says why the store takes nothing more of this worker. */
  readonly error?: Error;
}

/** Throws WORKERS where the project has no store of a team. */
export async function runWorker(options: WorkerOptions): Promise<WorkerReport> {
  const { root } = options;
  const store = await (options.openStore?.() ?? openStore(options));
  if (!('workers' in store)) {
    throw new MlldError('WORKERS', 'mlld worker: the runs of this project are kept in files, where nothing is offered', {
      hint: "MLLD_STORE='postgres://ada@db.example/mlld?project=acme/patrol' names the store of a team (docs/team.md)",
    });
  }
  const folder = root ?? (await makeWorkerFolder());
  const worker = new Worker(options, store as JournalStore & WithWorkers, folder);
  try {
    return await worker.run();
  } finally {
    if (root === undefined) await removeFolder(folder);
  }
}

async function openStore({ project, environment, io, once }: WorkerOptions): Promise<JournalStore> {
  const world = createLiveWorld({ ...io, environment: withoutOwnSecrets(environment) });
  try {
    const sealingKey = await sealingKeyFor({ project, environment }, world);
    const place = { project, environment, sealingKey, stderr: io.stderr };
    return await openRecordingStore(once ? place : { ...place, waitMs: Infinity }, 'working'); // WORKER-4
  } finally {
    await world.close('the key was read');
  }
}

class Worker {
  private readonly facts: WorkerFacts;
  private readonly workers: TeamWorkers;
  private readonly served = new Map<string, ServedCalls>();
  private readonly slots: Slots;
  private readonly ended = { executed: 0, failed: 0 };
  private readonly leaving = new AbortController();
  private lost: Error | undefined;
  private readonly outages: StoreOutages;
  /** Undefined while the store answers. */
  private awaySinceMs: number | undefined;
  private retryMs = LOOK_FIRST_MS;
  private unrecorded: Error | undefined;
  /** Undefined while something is offered or held. Only of a worker that ends when nothing is left. */
  private idleSinceMs: number | undefined;
  /** The holders that have not renewed their lease since this worker looked first. WORKER-7 */
  private doubted: Holders | undefined;
  private onWake: (() => void) | undefined;
  private isDue = false;

  constructor(
    private readonly options: WorkerOptions,
    private readonly store: JournalStore & WithWorkers,
    private readonly folder: string,
  ) {
    const { name: host, pid } = hostFacts();
    this.workers = store.workers;
    this.slots = new Slots(options.slots, options.io.monotonicMs);
    this.facts = { name: options.name ?? `${host}/${pid}`, version: VERSION, lanes: options.slots };
    this.outages = new StoreOutages(options.io.stderr, () => this.hurryWhileAway());
    const leave = (): void => {
      this.leaving.abort();
      this.hurryWhileAway();
      this.wake();
    };
    if (options.leaving.aborted) leave();
    else options.leaving.addEventListener('abort', leave, { once: true });
  }

  async run(): Promise<WorkerReport> {
    const listening = this.listen();
    let lookMs = LOOK_FIRST_MS;
    let upkeepAt = this.options.io.monotonicMs() + UPKEEP_MS;
    let isReady = false;
    while (!this.isLeaving) {
      const taking = await this.take();
      if (taking && !isReady) this.options.onReady?.();
      isReady ||= taking !== undefined;
      const isIdle = taking !== undefined && taking.taken.length === 0 && taking.unserved.length === 0;
      if (taking) await this.begin(taking);
      if (!isIdle || this.slots.inFlight > 0) this.idleSinceMs = this.doubted = undefined;
      else if (this.options.once && (await this.isDone())) break;
      if (this.options.io.monotonicMs() > upkeepAt) {
        await this.endServed();
        upkeepAt = this.options.io.monotonicMs() + UPKEEP_MS;
      }
      if (taking && !isIdle && this.slots.isDue) continue;
      const lookMaxMs = this.options.once ? NEXT_OFFERS_LOOK_MS : LOOK_MAX_MS;
      lookMs = isIdle && this.slots.inFlight === 0 ? Math.min(2 * lookMs, lookMaxMs) : LOOK_FIRST_MS;
      await this.untilWoken(this.slots.isDue ? lookMs : LOOK_MAX_MS);
    }
    this.leaving.abort();
    if (this.awaySinceMs === undefined) await this.ask(() => this.workers.leave());
    while (this.slots.inFlight > 0) await this.untilWoken(LOOK_MAX_MS); // WORKER-2
    let isRecorded = true;
    for (const calls of this.served.values()) isRecorded = (await this.end(calls)) && isRecorded;
    await listening;
    const { executed, failed } = this.ended;
    const error = this.lost ?? (isRecorded ? undefined : this.unrecorded);
    return { name: this.facts.name, executed, failed, ...(error && { error }) };
  }

  /** WORKER-6, WORKER-7 */
  private async isDone(): Promise<boolean> {
    const nowMs = this.options.io.monotonicMs();
    this.idleSinceMs ??= nowMs;
    await this.endServed();
    if (this.served.size > 0 && nowMs - this.idleSinceMs < NEXT_OFFERS_MS) return false;
    const { name, lanes } = this.facts;
    const holders = await this.ask(() => this.workers.holders(name, Object.keys(lanes)));
    if (holders === undefined) return false;
    this.doubted = new Map([...(this.doubted ?? holders)].filter(([run, until]) => holders.get(run) === until));
    return this.doubted.size === 0;
  }

  /** WORKER-4 */
  private hurryWhileAway(): void {
    const { error } = this.outages;
    if (this.isLeaving && error) for (const calls of this.served.values()) calls.hurry(error);
  }

  private get isLeaving(): boolean {
    return this.leaving.signal.aborted || this.lost !== undefined;
  }

  /** Undefined when the store is away, or no slot is free. */
  private async take(): Promise<Taking | undefined> {
    if (!this.slots.isDue) return undefined;
    const taking = await this.ask(async () => {
      await this.workers.present(this.facts);
      const served = Array.from(this.served.values(), (calls) => calls.served);
      return this.workers.take(this.facts.name, this.slots.free(), served);
    });
    if (taking && taking.sealed.length > 0) {
      const [{ ref }] = taking.sealed as readonly [OfferingRun];
      this.lose(
        new JournalError('STORE_SEALED', `the run with which this worker serves ${ref.run} of ${ref.workflow} was sealed`, {
          hint: 'another process took it while this one did not answer; what its calls returned is kept: start the worker again',
        }),
      );
    }
    return taking;
  }

  private async begin({ taken, unserved }: Taking): Promise<void> {
    for (const offer of taken) {
      const calls = this.served.get(offer.of.id);
      if (calls) this.execute(calls, offer); // only offers of runs that are served are claimed
    }
    for (const { first, ...of } of unserved) {
      const offered = readOffer(first.call);
      if (offered === undefined) await this.ask(() => this.workers.decline(first, this.facts.name, UNREADABLE));
      else await this.ask(() => this.serve(of, offered));
    }
  }

  /** A call that waits for a slot is held already, so that it is not taken a second time. */
  private execute(calls: ServedCalls, offer: TakenOffer): void {
    const { monotonicMs } = this.options.io;
    const takenMs = monotonicMs();
    let isEnding = false;
    calls.take(offer);
    const work = async ({ onEnding, lend }: SlotInUse): Promise<void> => {
      if (this.lost || monotonicMs() > takenMs + WAITING_MS_MAX) return calls.leave(offer); // WORKER-3, WORKER-5
      await calls.execute(offer, {
        onEnding: () => {
          isEnding = true;
          onEnding();
          this.wake();
        },
        lend: () => {
          const takeBack = lend();
          this.wake();
          return takeBack;
        },
      });
    };
    void this.slots
      .run(offer.lane, calls, work)
      .then((isExecuted) => isExecuted || calls.leave(offer))
      .catch((error: unknown) => this.lose(error instanceof Error ? error : new Error(String(error))))
      .finally(() => {
        if (!isEnding || this.slots.inFlight === 0) this.wake(); // else it was looked for the next call already
      });
  }

  private async serve(of: OfferingRun, first: OfferedCall): Promise<void> {
    const served = await this.workers.serve(of, this.facts, {
      onOutage: (error) => (error ? this.outages.began(error) : this.outages.ended()),
    });
    const calls = await ServedCalls.open(this.ports(of), served, first.budgets ?? []); // all offers of a run have the same
    this.served.set(of.id, calls);
    calls.prepare(first);
  }

  private ports(of: OfferingRun): ServedPorts {
    const { store, workers, facts: worker } = this;
    return {
      store,
      workers,
      worker,
      options: this.runOptions(of),
      hasOwnFolders: this.options.root === undefined,
      onLost: (error) => this.loseRun(error),
      onOutage: (error) => (error ? this.outages.began(error) : this.outages.ended()),
    };
  }

  private runOptions(of: OfferingRun): RunOptions {
    const { project, environment, io } = this.options;
    const root = this.folder;
    return {
      script: { kind: 'text', text: '', directory: root, label: of.ref.workflow },
      name: path.basename(of.ref.workflow),
      project: { root, config: project.config },
      workingDirectory: root,
      argv: [],
      payload: {},
      inject: [],
      state: [],
      cache: { checkpoint: true },
      environment,
      errorBehavior: 'continue',
      streaming: false,
      structured: false,
      io: { ...io, stdin: async () => undefined, stdout: () => undefined },
      signal: new AbortController().signal, // what is in flight ends by itself
    };
  }

  /** WORKER-1 */
  private async endServed(): Promise<void> {
    const idle = [...this.served].filter(([, calls]) => calls.inFlight === 0);
    if (idle.length === 0) return;
    const living = await this.ask(() => this.workers.living(idle.map(([, { served }]) => served.of)));
    if (!living) return;
    for (const [id, calls] of idle) {
      if (living.has(id)) continue;
      this.served.delete(id);
      await this.end(calls);
    }
  }

  /** Returns whether the store has all of it. */
  private end(calls: ServedCalls): Promise<boolean> {
    this.ended.executed += calls.executed;
    this.ended.failed += calls.failed;
    return calls.finish();
  }

  /** Undefined when the store is away, which is said once. WORKER-4 */
  private async ask<T>(work: () => Promise<T>): Promise<T | undefined> {
    const { io } = this.options;
    try {
      const answer = await work();
      if (this.awaySinceMs !== undefined) this.outages.ended();
      this.awaySinceMs = undefined;
      this.retryMs = LOOK_FIRST_MS;
      return answer;
    } catch (error) {
      if (!(error instanceof JournalError)) throw error;
      if (error.code !== 'STORE_UNREACHABLE') {
        this.lose(error);
        return undefined;
      }
      if (this.awaySinceMs === undefined) this.outages.began(error);
      this.awaySinceMs ??= io.monotonicMs();
      if (io.monotonicMs() - this.awaySinceMs >= this.workers.waitMs) this.lose(error);
      else await this.untilNextTry();
      return undefined;
    }
  }

  /** A server that comes back is not met by all workers at once. */
  private async untilNextTry(): Promise<void> {
    const ms = this.retryMs * (0.75 + randomFraction() / 2);
    this.retryMs = Math.min(2 * this.retryMs, LOOK_MAX_MS);
    await sleep(ms, undefined, { signal: this.leaving.signal }).catch(() => undefined); // whoever asks looks at the signal
  }

  /** WORKER-3 */
  private lose(error: Error): void {
    this.lost ??= error;
    this.hurryWhileAway();
    this.wake();
  }

  /** A worker that must stop does not wait for a store that is away: that is an error only where the last try fails, too. */
  private loseRun(error: Error): void {
    if (this.isLeaving && isAway(error)) this.unrecorded = error;
    else this.lose(error);
  }

  private wake(): void {
    this.isDue = true;
    this.onWake?.();
  }

  private async untilWoken(ms: number): Promise<void> {
    if (!this.isDue) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.onWake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.onWake = undefined;
    }
    if (this.slots.inFlight > 0 && !this.isLeaving) await sleep(GATHER_MS);
    this.isDue = false;
  }

  /** Hints of offers may be lost: the worker looks from time to time as well. */
  private async listen(): Promise<void> {
    const { signal } = this.leaving;
    const watch = this.workers.watch();
    while (!signal.aborted) if (await watch.wait(LISTEN_MS, signal)) this.wake();
    watch.close();
  }
}
