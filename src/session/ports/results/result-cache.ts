/** The result cache of a run: finds reusable results by the folds of prior runs, and says why others are not reused. */
import { jsonSize } from '../../../../journal/canonical.js';
import type { Json, Payload } from '../../../../journal/event.js';
import type { CallKey, EventRef, Fingerprint, OpPath, RunRef } from '../../../../journal/ids.js';
import type { RecordedResult } from '../../../../journal/storage/claims.js';
import type { JournalStore } from '../../../../journal/store.js';
import { previewOf } from '../../../../replay/fold/preview.js';
import type { Overlay, OverlayHit, ReceivedResult } from '../../../../replay/memo/overlay.js';
import {
  cachePolicy,
  ownLimitOfReuse,
  type CachePolicy,
  type PolicyFlags,
  type ResumeMode,
  type Scope,
} from '../../../../replay/memo/policy.js';
import { readOutputs } from '../../../../replay/memo/read-result.js';
import { decodeResult } from '../../../operation/encode-result.js';
import type { Awaitable } from '../../../runtime/awaitable.js';
import { InFlightCalls } from '../../../runtime/calls/in-flight-calls.js';
import type { CallOffers } from '../../../runtime/calls/offered-call.js';
import type {
  CachedResult,
  CacheQuery,
  CallClaims,
  ClaimedCall,
  ClaimedCallState,
  HeldResult,
  LostClaim,
  OutputFiles,
  ResultCache,
  UnjudgedResult,
  PaidWorker,
} from '../../../runtime/calls/result-cache.js';
import { metadataOf, NO_METADATA, type Metadata } from '../../../values/value.js';
import type { ChangedFiles, RunCallFiles } from '../files/call-files.js';
import { fitsInMemory, HELD_BYTES_MAX, lazyResult } from './lazy-result.js';
import { readableResult, type ReadableResult, type ReadingPorts } from './readable-result.js';
import { createResultStorage, type StoragePorts } from './result-storage.js';

export interface ResultInside extends ReceivedResult {
  readonly key: CallKey;
  /** Called when it was found: another attempt makes the call anew. */
  readonly used?: () => void;
}

/** Finds results that other runs record while this one runs, and claims calls. */
export interface TeamResults {
  claim(call: ClaimedCall, refused: EventRef | undefined): Promise<ClaimedCallState>;
  confirm(call: ClaimedCall, refused: EventRef | undefined): Promise<LostClaim | undefined> | undefined;
  giveBack(key: CallKey): void;
  /** Returns the result of a call that was found since the start of the run. */
  find(key: CallKey): OverlayHit | undefined;
  decline(result: EventRef): void;
  /** Returns the worker that executed a call which this run had offered, once. */
  takeWorkerOf(key: CallKey): PaidWorker | undefined;
  /** Reads a result, which `find` returns from then on; undefined when it can't be read. */
  learn(call: ClaimedCall, by: RecordedResult): Promise<OverlayHit | undefined>;
  /** Nothing is read any more. */
  mustStop(): boolean;
}

/** The part of the cache that offers need. */
export interface OffersBase {
  readonly reusesAll: () => boolean;
  /** Returns the option by which this run looks results up, and that a worker does not know; undefined where there is none. */
  readonly ownLimit: () => string | undefined;
  readonly payload: (value: Json) => Awaitable<Payload>;
  /** Absent where workers can't have the key. */
  readonly sealed?: (value: Json, about: string) => Promise<Payload>;
}

export interface CacheSources extends ReadingPorts, StoragePorts {
  /** Present in the store of a team. `reusesAll` says whether results of other runs may be reused now. */
  readonly team?: ((reusesAll: () => boolean) => TeamResults) | undefined;
  /** Present where workers execute calls of the run. */
  readonly offers?: ((cache: OffersBase) => CallOffers) | undefined;
  readonly ref: RunRef;
  readonly overlay: Overlay;
  /** Finds the result of a call inside another one, which had not ended when the process died; absent in a worker. */
  readonly inside?: (op: OpPath) => Awaitable<ResultInside | undefined>;
  readonly flags: PolicyFlags;
  readonly header: ResumeMode | undefined;
  readonly nowMs: () => number;
  readonly files: OutputFiles;
  readonly callFiles: RunCallFiles;
  /** Called when a stored result can't be read any more; `remedy` says what happens instead. */
  readonly onUnreadable: (fn: string, remedy: string) => void;
  /** Called when a stored result can't be opened, or a call with secrets has none: another key may be the reason. */
  readonly onOtherKey: (call: Pick<CacheQuery, 'fn'>) => Promise<void>;
}

const NOT_REPLACED =
  'this run uses its own, and later runs pay for the call again until mlld store rebuild makes the index of results anew';

interface Candidate {
  readonly key: CallKey;
  readonly hit: OverlayHit;
}

function sourceEvent({ hit }: Candidate): EventRef {
  const { ref, seq } = hit.entry.result;
  return { run: ref.run, seq };
}

function cacheHit(store: JournalStore, found: Candidate, { value, labels, isInner, files, measured }: ReadableResult): CachedResult {
  const { key, hit } = found;
  const { result: stored, fingerprint } = hit.entry;
  const isEdited = hit.edit.definition || hit.edit.interceptors;
  const from = sourceEvent(found);
  return {
    key,
    resultLabels: labels,
    ...(isInner && { isInner }),
    ...(files && { files }),
    from: hit.forkSource === undefined ? from : { ...from, workflow: hit.forkSource },
    ...(fingerprint !== undefined && isEdited ? { editedSince: fingerprint } : {}),
    ...(stored.costUsd === undefined ? {} : { costUsd: stored.costUsd }),
    ...(stored.insideUsd === undefined ? {} : { insideUsd: stored.insideUsd }),
    outputs: () => readOutputs(store, stored),
    measured,
    value,
  };
}

/** A call with secrets may be recorded under two keys. A result of a fork source is preferred, else the later one. */
function preferred(first: Candidate | undefined, second: Candidate | undefined): Candidate | undefined {
  if (!first) return second;
  if (!second || first.hit.forkSource !== undefined) return first;
  if (second.hit.forkSource !== undefined) return second;
  const [one, other] = [first.hit.entry.result, second.hit.entry.result];
  const isLater = other.ref.run === one.ref.run ? other.seq > one.seq : other.ref.run > one.ref.run;
  return isLater ? second : first;
}

/** Results of one function that were reused although it is defined otherwise now, by the definition that they were made with. */
export type StaleHits = Map<
  Fingerprint,
  {
    readonly now: Fingerprint;
    readonly count: number;
    /** The step of the workflow in which all of them are, `main/fan#0` for `main/fan#0[1]/ask#0/…`; undefined where there are several. */
    readonly step: OpPath | undefined;
  }
>;

export interface RunCache extends ResultCache {
  /** By the name of the function. */
  readonly staleHits: ReadonlyMap<string, StaleHits>;
  /** By the name of the function: files of reused calls that have other content now. */
  changedFiles(): ReadonlyMap<string, ChangedFiles>;
  /** Counts the secret results that no later run will have, because there is no key to seal them. */
  unkeptCount(): number;
}

export function createRunCache(sources: CacheSources): RunCache {
  const { store, ref, overlay, flags, header, nowMs } = sources;
  const staleHits = new Map<string, StaleHits>();
  const held = new Map<CallKey, HeldResult & Pick<CachedResult, 'from'>>();
  const { knownSecrets, ...storage } = createResultStorage(sources);
  const warnDeclined = async (declined: readonly OverlayHit[], remedy: string): Promise<void> => {
    for (const { entry } of declined) {
      if (entry.result.sealed) await sources.onOtherKey(entry);
      else sources.onUnreadable(entry.fn, remedy);
    }
  };
  let policy: CachePolicy;
  let allowed: ReturnType<ResultCache['policy']>;
  const enter = (scope: Scope | undefined): void => {
    policy = cachePolicy({ flags, header, scope });
    allowed = { records: policy.records, reuses: policy.reuses !== 'no' };
  };
  enter(undefined);
  const team = sources.team?.(() => policy.reuses === 'all');
  const hitOf = (found: Candidate, read: ReadableResult): CachedResult => {
    const known = cacheHit(store, found, read);
    if (team?.find(found.key) === found.hit) return { ...known, takeWorker: () => team.takeWorkerOf(found.key) };
    const { unresolvedInside } = read;
    // Those of this run are counted already, and those of a fork source are not up to this workflow.
    const isOfBefore = found.hit.forkSource === undefined && found.hit.entry.result.ref.run !== ref.run;
    return unresolvedInside !== undefined && isOfBefore ? { ...known, unresolvedInside } : known;
  };
  const decline = (result: EventRef): void => {
    overlay.decline(result);
    team?.decline(result);
  };
  const candidate = (key: CallKey, { op, definition: { fingerprint, parts } }: CacheQuery): Candidate | undefined => {
    const hit = overlay.lookup({ op, key, fingerprint, parts }, policy, nowMs()) ?? (policy.reuses === 'all' ? team?.find(key) : undefined);
    return hit && { key, hit };
  };
  const next = (query: CacheQuery): Candidate | undefined => {
    const plain = candidate(query.key, query);
    const secrets = knownSecrets();
    return secrets === undefined ? plain : preferred(plain, candidate(secrets.callKey(query.key), query));
  };

  const unjudgedHit = ({ op, key: plain, definition }: CacheQuery): Candidate | undefined => {
    for (const key of [plain, knownSecrets()?.callKey(plain)]) {
      const hit = key && overlay.unjudged({ op, key, ...definition }, policy, nowMs());
      if (hit) return { key, hit };
    }
    return undefined;
  };
  const readUnjudged = async (found: Candidate, fn: string): Promise<UnjudgedResult | undefined> => {
    const { ref, position } = found.hit.entry.result;
    const read = await readableResult(sources, found.key, found.hit.entry);
    const event = read && (await store.readAt(ref, position));
    if (read && event?.type === 'result.received') return { ...cacheHit(store, found, read), fact: event };
    sources.onUnreadable(fn, 'the call is executed again');
    return undefined;
  };

  /** Tries candidates until one can be read, beginning with `first` and what was already read of it. */
  async function search(
    query: CacheQuery,
    first: Candidate | undefined,
    firstRead: Awaitable<ReadableResult | undefined>,
  ): Promise<CachedResult | undefined> {
    const declined: OverlayHit[] = [];
    let found = first;
    for (let reading = firstRead; found; reading = found && readableResult(sources, found.key, found.hit.entry)) {
      const value = await reading;
      if (value) {
        await warnDeclined(declined, 'another recorded result is reused');
        return hitOf(found, value);
      }
      decline(sourceEvent(found));
      declined.push(found.hit);
      found = next(query);
    }
    const own = held.get(query.key);
    if (own) return { ...own, outputs: async () => own.outputs, value: () => decodeResult(own.encoded, sources.root) };
    if (declined.length === 0 && query.hasSecret) await sources.onOtherKey(query);
    await warnDeclined(declined, 'the call is executed again');
    return undefined;
  }

  const claims: CallClaims | undefined = team && {
    claim: (call, refused) => team.claim(call, refused),
    confirm: (call, refused) => team.confirm(call, refused),
    giveBack: (key) => team.giveBack(key),
    async winner(call, by) {
      const hit = await team.learn(call, by);
      // The index names what is no result of the call, and goes on doing so: no result of this run replaces it.
      if (hit === undefined && !team.mustStop()) sources.onUnreadable(call.fn, NOT_REPLACED);
      const found = hit && { key: call.key, hit };
      const read = found && (await readableResult(sources, found.key, found.hit.entry));
      return found && read && cacheHit(store, found, read);
    },
  };

  const offers = sources.offers?.({
    reusesAll: () => policy.reuses === 'all',
    ownLimit: () => ownLimitOfReuse(flags, policy),
    payload: (value) => storage.payload(value, { isPaid: true }),
    ...(store.hasSharedKey && { sealed: (value, about) => storage.secretPayload(value, about, true) }),
  });

  return {
    ...storage,
    ...(claims && { claims }),
    ...(offers && { offers }),
    staleHits,
    inFlight: new InFlightCalls(),
    recordedDefinitions: new Set<Fingerprint>(),
    files: sources.files,
    callFiles: sources.callFiles,
    policy: () => allowed,
    lookup(query) {
      if (!allowed.reuses) return undefined;
      const found = next(query);
      const read = found && readableResult(sources, found.key, found.hit.entry);
      if (found && read && !(read instanceof Promise)) return hitOf(found, read);
      return found || query.hasSecret || held.size > 0 ? search(query, found, read) : undefined;
    },
    hasUnjudged: () => allowed.reuses && overlay.hasUnjudged(),
    unjudged(query) {
      const hit = allowed.reuses ? unjudgedHit(query) : undefined;
      return hit && readUnjudged(hit, query.fn);
    },
    async lookupInside(query) {
      const { op, key: plain, definition } = query;
      const received = allowed.reuses ? await sources.inside?.(op) : undefined;
      if (!received || (received.key !== plain && received.key !== knownSecrets()?.callKey(plain))) return undefined;
      received.used?.();
      const { key } = received;
      const { fingerprint, parts } = definition;
      const hit = overlay.lookup({ op, key, fingerprint, parts, received }, policy, nowMs());
      const read = hit && (await readableResult(sources, key, hit.entry));
      if (hit && !read) await warnDeclined([hit], 'the call is executed again');
      return hit && read && hitOf({ key, hit }, read);
    },
    decline: (known) => decline(known.from),
    recall({ position }, { json, form, notes }, { key, fn }, fresh) {
      if (!store.immediate || jsonSize(json) <= HELD_BYTES_MAX || !fitsInMemory(notes)) return fresh;
      return lazyResult(store.immediate, { ref, key, position, form, fn }, withoutText(metadataOf(fresh)));
    },
    preview: (args) => previewOf({ inline: args as Json }),
    hold(key, { seq }, stored) {
      held.set(key, { ...stored, from: { run: ref.run, seq } });
    },
    changedFiles: () => sources.callFiles.changed(),
    unkeptCount: () => held.size,
    enterScope({ name, resume, ttlMs, hasComplete }) {
      enter({ name, resume, ttlMs, complete: hasComplete });
    },
    warnStaleHit(fn, { op, recorded, now }) {
      const hits: StaleHits = staleHits.get(fn) ?? new Map();
      const [known, step] = [hits.get(recorded), stepOf(op)];
      hits.set(recorded, { now, count: (known?.count ?? 0) + 1, step: known === undefined || known.step === step ? step : undefined });
      staleHits.set(fn, hits);
    },
  };
}

/** The text of a lazy result is read with its data. */
function withoutText(metadata = NO_METADATA): Metadata {
  if (metadata.text === undefined) return metadata;
  const { text: _, ...others } = metadata;
  return others;
}

function stepOf(op: OpPath): OpPath {
  return (/^[^/]*\/[^/[]*/.exec(op)?.[0] ?? op) as OpPath;
}
