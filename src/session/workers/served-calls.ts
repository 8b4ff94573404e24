/**
 * Executes offered calls of one run, in a run of its own. team-store.md 7.1.
 *
 * SERVED-1 A call is executed only when its function and its key are those of the offer. Else it is declined with a reason, for others.
 * SERVED-2 The run that offers hears of the end of a call, and others may take it, when the journal has the end: the store does all of it
 *    at once.
 * SERVED-3 No guard and no hook of the script acts here: they act where the call was made.
 * SERVED-4 A call that another run has by the time its start is recorded is left to that run: a slot is not for waiting, and the run that
 *    offers finds what the other made of it. A call whose inner one another run has lends its slot while it waits. SLOTS-6
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { JournalError } from '../../../journal/errors.js';
import type { EventOf, JournalEvent } from '../../../journal/event.js';
import type { CallKey } from '../../../journal/ids.js';
import type { ServedRun, TakenOffer, TeamWorkers, WorkerFacts } from '../../../journal/storage/workers.js';
import type { JournalStore } from '../../../journal/store.js';
import { follow } from '../../../replay/fold/projection.js';
import { createOverlay } from '../../../replay/memo/overlay.js';
import { index } from '../../../replay/memo/snapshot.js';
import { DEFAULT_CALL_SETTINGS } from '../../calls/options.js';
import { call } from '../../language/calls/call.js';
import { execute } from '../../language/evaluate.js';
import type { CallClaims, ResultCache } from '../../runtime/calls/result-cache.js';
import type { CallRuntime } from '../../runtime/calls/call-runtime.js';
import { ExecutedElsewhere } from '../../runtime/calls/executed-elsewhere.js';
import { OTHER_KEY, type OfferedCall } from '../../runtime/calls/offered-call.js';
import type { Executable } from '../../runtime/definitions/executable.js';
import type { RunState } from '../../runtime/frame.js';
import { OpNode } from '../../runtime/op-node.js';
import { SecretRegistry, WITHHELD } from '../../runtime/secrets/secret-registry.js';
import type { Settings } from '../../runtime/settings.js';
import { VERSION } from '../../version.js';
import { CallFolders } from '../../world/files/worker-folders.js';
import { createLiveWorld } from '../../world/live.js';
import type { World } from '../../world/world.js';
import { RunTeamResults } from '../ports/claims/team-results.js';
import { RunCallFiles } from '../ports/files/call-files.js';
import { createOutputFiles } from '../ports/files/output-files.js';
import { createJournalWarnings } from '../ports/journal-warnings.js';
import { createRecorder, isOfOneFact, type RunRecorder } from '../ports/recorder.js';
import { createRunCache } from '../ports/results/result-cache.js';
import { retryingStore } from '../ports/results/retrying-store.js';
import { createTotalsCounter, type TotalsCounter } from '../ports/run-totals.js';
import { withoutOwnSecrets } from '../../world/own-secrets.js';
import { startedFact } from '../ports/started-fact.js';
import { createCallRuntime } from '../script/call-runtime.js';
import { createDocument } from '../script/document.js';
import { createRunState, rootFrame } from '../script/root-frame.js';
import type { RunOptions } from '../script/run-options.js';
import { settingsFor } from '../script/settings.js';
import { openSharedBudgets } from '../script/shared-budgets.js';
import { isUserError } from '../user-error.js';
import { OfferedFunctions } from './offered-functions.js';
import { claimsOfOffered } from './offered-claim.js';
import { Declined, openArguments, orDecline, readOffer, UNREADABLE } from './read-offer.js';
import { servedResults } from './served-results.js';
import type { SlotInUse } from './slots.js';

const RETRY_MS = 200;

export interface ServedPorts {
  readonly store: JournalStore;
  readonly workers: TeamWorkers;
  readonly worker: WorkerFacts;
  /** As of a run in the folder of the worker. */
  readonly options: RunOptions;
  /** Each call gets an empty folder; false: all of them share the folder of the worker. */
  readonly hasOwnFolders: boolean;
  /** Called when the store takes nothing more of this worker. */
  readonly onLost: (error: Error) => void;
  /** Called when the store is away for so long that the user will wonder; and without an error when it is back. */
  readonly onOutage: (error: Error | undefined) => void;
}

interface Parts {
  readonly served: ServedRun;
  readonly recorder: RunRecorder;
  readonly run: RunState;
  readonly calls: CallRuntime;
  readonly functions: OfferedFunctions;
  readonly counter: TotalsCounter;
  readonly world: World;
  /** Keeps the files that calls write in this folder. */
  readonly callFilesIn: (folder: string) => RunCallFiles;
  readonly ends: Map<CallKey, End>;
  /** Called when the end of a call is on its way to the journal. */
  readonly endings: Map<CallKey, () => void>;
}

type End = EventOf<'call.completed' | 'call.failed'>;

export class ServedCalls {
  private readonly root = OpNode.root();
  private readonly folders: CallFolders;
  private count = 0;
  /** Calls that ended with a result, and those that failed. */
  executed = 0;
  failed = 0;

  private constructor(
    private readonly ports: ServedPorts,
    private readonly parts: Parts,
  ) {
    this.folders = new CallFolders(parts.run.settings.projectRoot);
  }

  /** `budgets` are those of the project that hold the run back. */
  static async open(ports: ServedPorts, served: ServedRun, budgets: readonly string[]): Promise<ServedCalls> {
    const { store, worker, options } = ports;
    const { io, environment, signal } = options;
    const { journal } = served;
    const { ref } = journal;
    const world = createLiveWorld({ ...io, environment: withoutOwnSecrets(environment) });
    const secrets = new SecretRegistry();
    const warnings = createJournalWarnings(io.stderr);
    const calls = createCallRuntime({
      settings: {
        ...DEFAULT_CALL_SETTINGS,
        ...options.project.config.calls,
        ...(budgets.length > 0 && { budget: { shared: budgets } }),
      },
      io,
      pause: () => undefined,
      signal,
      isServing: true,
    });
    const lost = (error: Error): void => {
      if (error instanceof JournalError) {
        calls.dispatcher.stop({ class: 'journal', message: error.message, error });
        ports.onLost(error);
      }
      warnings.error(error);
    };
    const known = index.initial();
    const counter = createTotalsCounter();
    const ends = new Map<CallKey, End>();
    const endings = new Map<CallKey, () => void>();
    const recorder = createRecorder(journal, {
      secrets,
      followers: [
        follow(index, known, ref),
        counter.follow,
        (event, position) => {
          if (!isEnd(event)) return;
          ends.set(event.key, event);
          served.ended(event.key, position);
          endings.get(event.key)?.();
        },
      ],
      count: counter.count,
      onTrouble: (error) => (isOfOneFact(error) ? warnings.error(error) : lost(error)),
    });
    // It is not awaited: the first `call.started` is, and stands behind it. A first offer waits for nothing that it does not need.
    void recorder.append({
      ...startedFact(options, { ref, header: undefined, forks: [], inputs: undefined, settled: [] }),
      worker: { for: served.of.ref.run, name: worker.name, lanes: worker.lanes },
    });
    openSharedBudgets(calls, store, ref);
    calls.dispatcher.open({ record: (fact) => recorder.post(fact), learn: async () => ({ lanes: new Map(), costs: new Map() }) });
    const hasStopped = (): boolean => calls.dispatcher.stoppedBy?.class === 'journal';
    const { claims } = journal;
    const retrying = retryingStore(store, {
      waitMs: options.journalWaitMs ?? claims?.waitMs,
      monotonicMs: io.monotonicMs,
      hasGivenUp: hasStopped,
      onOutage: ports.onOutage,
      onGivenUp: lost,
    });
    const callFilesIn = (folder: string): RunCallFiles =>
      new RunCallFiles({
        store: retrying,
        root: folder,
        settings: calls.settings.files,
        isRecorded: true,
        onTrouble: (error) => warnings.error(error),
        warn: (message) => io.stderr(`warning: ${message}\n`),
      });
    const cache = createRunCache({
      team:
        claims &&
        ((reusesAll) =>
          new RunTeamResults({
            claims,
            store,
            workflow: ref.workflow,
            prior: { sizes: new Map() },
            served: servedResults(store, served.of.ref),
            reusesAll,
            signal,
            hasStopped,
            monotonicMs: io.monotonicMs,
            stderr: io.stderr,
            onOutage: ports.onOutage,
            onLost: lost,
          })),
      store,
      retrying,
      root: options.project.root,
      secrets: await store.knownSecrets().catch(() => undefined),
      onOtherKey: async () => undefined,
      ref,
      overlay: createOverlay({ run: ref.run, own: known.memo, definitions: known.definitions, complete: known.complete, forks: [] }),
      flags: { checkpoint: true },
      header: undefined,
      nowMs: io.nowMs,
      callFiles: callFilesIn(options.project.root),
      files: createOutputFiles({ store: retrying, workflows: [], keepsNewer: false, onTrouble: (error) => warnings.error(error) }),
      onTrouble: (error) => warnings.error(error),
      onGap: warnings.gap,
      onUnreadable: warnings.unreadable,
    });
    const settings = await settingsFor(options, options.project.root, world);
    const document = createDocument({ streaming: false, collects: false });
    const run = createRunState({ options, world, recorder, cache, secrets, document, settings, state: undefined, signal, calls });
    const functions = new OfferedFunctions({ store, world, options, keyed: (text) => cache.digest(text), secrets });
    return new ServedCalls(ports, { served, recorder, run, calls, functions, counter, world, callFilesIn, ends, endings });
  }

  get served(): ServedRun {
    return this.parts.served;
  }

  get inFlight(): number {
    return this.count;
  }

  /** The worker must stop while the store is away: no call begins, and nothing waits for it any more. WORKER-4 */
  hurry(error: Error): void {
    const { calls, served } = this.parts;
    calls.dispatcher.stop({ class: 'journal', message: error.message, error });
    served.hurry();
  }

  /** Builds the function of a call while it is taken. Where that fails, it is tried again, and reported, when the call is executed. */
  prepare(offered: OfferedCall): void {
    void this.parts.functions.find(offered).catch(() => undefined);
  }

  /** Must be called when the offer was taken: nobody else has the call from here on. */
  take({ key }: TakenOffer): void {
    this.count++;
    this.parts.served.hold(key);
  }

  /** The call is not executed here. */
  leave({ key }: TakenOffer): void {
    this.parts.served.giveBack(key);
    this.count--;
  }

  /** Executes a call that was taken, or declines it. Never rejects for what a user can cause. */
  async execute(offer: TakenOffer, { onEnding, lend }: SlotInUse): Promise<void> {
    const { ends, endings } = this.parts;
    ends.delete(offer.key);
    endings.set(offer.key, onEnding);
    try {
      const because = await this.tryToExecute(offer, lend);
      const end = ends.get(offer.key);
      if (because === ELSEWHERE) return;
      if (end === undefined) await this.decline(offer, because ?? 'it ended without being executed');
      else if (isReusable(end)) this.executed++;
      else {
        this.failed++;
        this.sayWhyRunsPause(end);
      }
    } finally {
      ends.delete(offer.key);
      endings.delete(offer.key);
      this.leave(offer);
    }
  }

  /** The user of this machine can mend its login or account. */
  private sayWhyRunsPause(event: End): void {
    if (event.type !== 'call.failed' || (event.class !== 'quota' && event.class !== 'auth')) return;
    const { calls, served } = this.parts;
    if (!calls.isFirst(`stopped ${event.class}`)) return;
    this.ports.options.io.stderr(`warning: ${event.message}; run ${served.of.ref.run}, which offered the call, pauses\n`);
  }

  /** Records the end of the run. Returns whether the store has all of it. */
  async finish(): Promise<boolean> {
    const { recorder, counter, calls, run, world, served } = this.parts;
    calls.dispatcher.end();
    run.writeWarnings();
    const { name } = this.ports.worker;
    await recorder.append({
      type: 'run.finished',
      status: 'completed',
      totals: counter.totals(),
      worker: { for: served.of.ref.run, name },
    });
    const end = await recorder.close();
    await world.close('the worker has ended');
    return end === 'kept' || end === 'regained';
  }

  /** Returns why it was not executed, where it was not. */
  private async tryToExecute(offer: TakenOffer, lendSlot: SlotInUse['lend']): Promise<string | typeof ELSEWHERE | undefined> {
    const { functions, run } = this.parts;
    const offered = readOffer(offer.call);
    if (offered === undefined) return UNREADABLE;
    let mismatch: string | undefined;
    const onMismatch = (because: string): void => void (mismatch = because);
    const claimsFor = (claims: CallClaims): CallClaims => claimsOfOffered(claims, offer, offered, { lendSlot, onMismatch });
    try {
      if (majorOf(offered.mlld) !== majorOf(VERSION))
        throw new Declined(`it was offered by mlld ${offered.mlld}, and the worker is ${VERSION}`);
      const { executable, main } = await orDecline(() => functions.find(offered));
      const { args, passed } = await orDecline(() => openArguments(this.ports.store, offered, { key: offer.key, run }));
      const guarded = offered.guards && { inputs: passed, parts: offered.guards }; // SERVED-3
      if (offer.refused) run.cache.decline({ from: offer.refused } as Parameters<ResultCache['decline']>[0]);
      const { settings, leave } = await this.folderFor(executable);
      try {
        const own = { ...run, settings, cache: this.cacheFor(claimsFor, settings) };
        const frame = { ...rootFrame(own, main, execute), op: this.root };
        const inner = { ...frame, secret: offered.isSecret, context: { ...frame.context, attempt: offered.attempt ?? 1 } };
        await call(executable, args, inner, {
          at: executable.node.at,
          called: [executable.name],
          labels: offered.labels ?? [],
          ...(guarded && { guarded }),
        });
      } finally {
        leave();
      }
      return undefined;
    } catch (error) {
      if (error instanceof ExecutedElsewhere) return ELSEWHERE;
      if (error instanceof Declined || mismatch !== undefined) return mismatch ?? (error as Error).message;
      if (!isUserError(error)) throw error;
      return 'keyId' in offered.args ? WITHHELD : run.secrets.redact(error.message);
    }
  }

  /** Files of a call that works in the folder of this process can't be told from those of others. */
  private cacheFor(claimsOf: (claims: CallClaims) => CallClaims, { projectRoot }: Settings): ResultCache {
    const { run, callFilesIn } = this.parts;
    const { claims, callFiles: shared, ...others } = run.cache;
    const isOwn = projectRoot !== run.settings.projectRoot;
    const callFiles = isOwn ? callFilesIn(projectRoot) : this.ports.hasOwnFolders ? undefined : shared;
    return { ...others, ...(callFiles && { callFiles }), ...(claims && { claims: claimsOf(claims) }) };
  }

  private async folderFor(executable: Executable): Promise<{ readonly settings: Settings; readonly leave: () => void }> {
    const { settings } = this.parts.run;
    const isBelowRoot = executable.writesOption !== undefined || isInProcess(executable);
    if (!this.ports.hasOwnFolders || isBelowRoot) return { settings, leave: () => undefined };
    const folder = await this.folders.take();
    return { settings: { ...settings, projectRoot: folder }, leave: () => void this.folders.giveBack(folder) };
  }

  private async decline(offer: TakenOffer, because: string): Promise<void> {
    const { calls } = this.parts;
    const { worker, workers, options } = this.ports;
    if (options.signal.aborted || calls.dispatcher.stoppedBy?.class === 'journal') return; // giving the claim back is enough
    if (because === OTHER_KEY && calls.isFirst(OTHER_KEY))
      options.io.stderr(`warning: calls of run ${this.parts.served.of.ref.run} are left to others: ${OTHER_KEY}\n`);
    const isStopped = calls.dispatcher.stoppedBy !== undefined;
    await this.untilTaken(() => workers.decline(offer, worker.name, because, isStopped));
  }

  /** Waits for a store that is away. */
  private async untilTaken(work: () => Promise<void>): Promise<void> {
    const { signal, io } = this.ports.options;
    for (const endMs = io.monotonicMs() + (this.parts.served.journal.claims?.waitMs ?? 0); ;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof JournalError)) throw error;
        if (error.code !== 'STORE_UNREACHABLE' || io.monotonicMs() > endMs || signal.aborted) return; // the offer ends with its run
        await sleep(RETRY_MS);
      }
    }
  }
}

/** A `js` body that names no folder has the working directory of this process, whichever folder its call gets. world.md 15. */
function isInProcess({ body }: Executable): boolean {
  return body.kind === 'code' && body.language === 'js' && body.directory === undefined;
}

const ELSEWHERE = Symbol('another run executes it');

/** True for an event that ends a call. */
function isEnd(event: JournalEvent): event is End {
  return event.type === 'call.completed' || (event.type === 'call.failed' && event.retryInMs === undefined);
}

function isReusable(event: End): boolean {
  return event.type === 'call.completed' && event.unusable === undefined && !('redacted' in event.result);
}

function majorOf(version: string): string {
  return version.split('.')[0] ?? '';
}
