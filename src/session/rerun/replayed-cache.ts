/** Reuses what the recorded run reused, by operation. Calls that it executed run their bodies again. */
import path from 'node:path';
import type { StoredBlob } from '../../../journal/storage/blob-writer.js';
import { textTooLarge } from '../../../journal/payloads.js';
import type { EventOf, FactOf, OutputFile, ReusedOutput } from '../../../journal/event.js';
import type { CallKey, EventRef } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { cachePolicy, type Scope } from '../../../replay/memo/policy.js';
import { holdsResult, type ResultEvent } from '../../../replay/memo/stored-result.js';
import { resolveResult } from '../../../replay/fold/recorded-result.js';
import type { RecordedCall, Recording } from '../../../replay/recording/recorded-world.js';
import { recordedResultLabels } from '../../runtime/calls/result-labels.js';
import { measuredIn } from '../../operation/measured-result.js';
import { decodeResult } from '../../operation/encode-result.js';
import type { CachedResult, CacheQuery, ResultCache, UnjudgedResult } from '../../runtime/calls/result-cache.js';
import { OutputExceedsText } from '../../world/process/output.js';
import { NO_RESULT_CACHE } from '../no-result-cache.js';
import type { EffectResult } from '../../world/world.js';
import type { Divergence } from './divergence.js';
import { resultsOf } from './recorded-results.js';
import type { ReplayOrder } from './replay-order.js';
import { endOfReplay } from './replayed-world.js';

export interface ReplayedCacheOptions {
  readonly store: JournalStore;
  /** The project's folder, as it was. */
  readonly root: string;
  readonly recording: Recording;
  readonly order: ReplayOrder;
  readonly diverge: (divergence: Divergence) => boolean;
  /** Makes a declared output file look as it did when a result was reused; `name` is the recorded path. */
  readonly placeFile: (name: string, file: EffectResult<'file.bytes'>) => void;
}

/** Describes a file that was not kept, in the words of the live world as far as they are known. */
function unkeptFile(absolute: string, reason: Extract<OutputFile, { reason: string }>['reason']): EffectResult<'file.bytes'> {
  if (reason === 'secret') return { base64: '' };
  const details = { absent: 'does not exist', directory: 'is a directory', 'too-large': 'was too large', unreadable: 'could not be read' };
  return { missing: reason, detail: `${absolute} ${details[reason]}` };
}

const ABSENT: EffectResult<'file.bytes'> = { missing: 'absent', detail: 'as recorded' };

export function createReplayedCache({ store, root, recording, order, diverge, placeFile }: ReplayedCacheOptions): ResultCache {
  const flags = { ...recording.started?.flags, forks: recording.started?.forks ?? [] };
  const header = recording.started?.header;
  const results = resultsOf(store);
  let scope: Scope | undefined;

  async function sourceOf(call: RecordedCall, from = call.from): Promise<ResultEvent> {
    const { seq, op, fn, place } = call;
    const event = from && (await results(from.run, from.seq));
    if (event) return event;
    diverge({
      reason: 'unreadable',
      op,
      kind: 'call',
      expected: { seq, subject: `@${fn}, reused from ${from?.run ?? place.ref.run}:${from?.seq}` },
    });
    throw endOfReplay();
  }

  /** Makes the declared files look as they did, so that the same decisions are made about them. */
  async function placeFiles(reused: readonly ReusedOutput[], recorded: readonly OutputFile[]): Promise<void> {
    for (const [index, { path, did }] of reused.entries()) {
      const file = recorded[index];
      if (file === undefined || did === 'absent' || did === 'restored') placeFile(path, ABSENT);
      else {
        // For a file that was not kept, or was changed by others, only its existence matters.
        const content = did === 'same' && 'blob' in file ? await store.getBlob(file.blob) : Buffer.from('as it was then');
        placeFile(path, content === undefined ? ABSENT : { base64: Buffer.from(content).toString('base64') });
      }
    }
  }

  /** Makes the declared files of a call that runs again look as they did after the recorded call. */
  async function placeWritten({ completed, judged }: RecordedCall): Promise<void> {
    const place = completed?.place ?? judged;
    const event = place && (await store.readAt(place.ref, place.position));
    if (!holdsResult(event)) return;
    for (const file of event.outputs ?? []) {
      placeFile(file.path, 'blob' in file ? { base64: '' } : unkeptFile(path.resolve(root, file.path), file.reason));
    }
  }

  async function resultIn(call: RecordedCall, completed: ResultEvent, from: EventRef): Promise<CachedResult> {
    const exceeding = textTooLarge(completed.result);
    const result = await resolveResult(store, completed);
    if (result === undefined && !exceeding) {
      diverge({ reason: 'unreadable', op: call.op, kind: 'call', expected: { seq: call.seq, subject: `@${call.fn}` } });
      throw endOfReplay();
    }
    return {
      key: call.key,
      resultLabels: recordedResultLabels(completed),
      ...(completed.reply?.inner && { isInner: true as const }),
      from,
      measured: () => measuredIn(completed),
      outputs: async () => completed.outputs,
      value: () => {
        if (!result) throw new OutputExceedsText(exceeding as StoredBlob); // one of them is there
        return decodeResult(result, root);
      },
    };
  }

  async function reusedResult(call: RecordedCall): Promise<CachedResult> {
    const completed = await sourceOf(call);
    const from = call.from as NonNullable<RecordedCall['from']>; // the run reused it
    const known = await resultIn(call, completed, from);
    const event = (await store.readAt(call.place.ref, call.place.position)) as EventOf<'call.reused'> | undefined;
    const { savedUsd, unresolvedInside } = event ?? {};
    await placeFiles(event?.outputs ?? [], completed.outputs ?? []);
    return {
      ...known,
      ...(savedUsd !== undefined && { costUsd: savedUsd }),
      ...(unresolvedInside !== undefined && { unresolvedInside }),
    };
  }

  async function unjudgedResult(call: RecordedCall, from: EventRef): Promise<UnjudgedResult | undefined> {
    const event = await sourceOf(call, from);
    if (event.type !== 'result.received') return undefined;
    const known = await resultIn(call, event, from);
    const start = await store.readAt(call.place.ref, call.place.position);
    if (start?.type === 'call.started') await placeFiles(start.outputs ?? [], event.outputs ?? []);
    const { costUsd } = event.callUsage ?? event.usage ?? {};
    return {
      ...known,
      fact: event,
      ...(costUsd !== undefined && { costUsd }),
      ...(event.insideUsd !== undefined && { insideUsd: event.insideUsd }),
    };
  }

  async function lookup({ key, op }: CacheQuery): Promise<CachedResult | undefined> {
    const call = recording.calls.get(op);
    if (call?.from === undefined) {
      if (call !== undefined && !call.received) await placeWritten(call);
      return undefined;
    }
    if (!(await isSame(store, call.key, key)) && !diverge(callDivergence(call))) throw endOfReplay();
    await order.waitFor(call.seq);
    const release = order.hold();
    return reusedResult(call).finally(release);
  }

  return {
    ...NO_RESULT_CACHE(),
    // The record is of the same arguments, whatever key the run had.
    secretKeys: async () => (plain) => plain,
    async recordedMeasure(op) {
      const completed = recording.calls.get(op)?.completed;
      const event = completed && (await store.readAt(completed.place.ref, completed.place.position));
      return event?.type === 'call.completed' ? measuredIn(event) : undefined;
    },
    policy() {
      const { records, reuses: serves } = cachePolicy({ flags, header, scope });
      return { records, reuses: serves !== 'no' };
    },
    files: {
      keepsNewer: true,
      keep: async () => undefined,
      content: (blob) => store.getBlob(blob),
      wrote: async () => false,
    },
    lookup,
    lookupInside: lookup,
    hasUnjudged: () => true,
    unjudged({ op }) {
      const call = recording.calls.get(op);
      return call?.received && unjudgedResult(call, call.received);
    },
    offers: {
      async claim({ op }) {
        const { begun, worker, failed } = recording.calls.get(op) ?? {};
        const event = begun && failed && (await store.readAt(failed.place.ref, failed.place.position));
        return begun && event?.type === 'call.failed'
          ? { kind: 'failed', event, begun, worker } // at a worker
          : { kind: 'claimed', replaces: undefined };
      },
      ended: () => undefined,
      stopped: async () => undefined,
    },
    enterScope({ name, resume, ttlMs, hasComplete }) {
      scope = { name, resume, ttlMs, complete: hasComplete };
    },
  };
}

/** Compares a call with the recorded call of its operation; undefined if it is the same. */
export async function changedCall(
  recording: Recording,
  store: JournalStore,
  { op, key, fn, args }: FactOf<'call.started'>,
): Promise<Divergence | undefined> {
  const recorded = recording.calls.get(op);
  if (recorded && (await isSame(store, recorded.key, key))) return undefined;
  const actual = { subject: `@${fn}`, request: 'inline' in args ? args.inline : undefined };
  if (!recorded) return { reason: 'new', op, kind: 'call', actual };
  const event = await store.readAt(recorded.place.ref, recorded.place.position);
  const request = event?.type === 'call.started' ? await store.resolve(event.args, event.key) : undefined;
  return { ...callDivergence(recorded), expected: { seq: recorded.seq, subject: `@${recorded.fn}`, request }, actual };
}

/** A call with secrets in its arguments is recorded under a keyed digest. */
async function isSame(store: JournalStore, recorded: CallKey, key: CallKey): Promise<boolean> {
  return recorded === key || recorded === (await store.knownSecrets())?.callKey(key);
}

function callDivergence({ seq, op, fn }: RecordedCall): Divergence {
  return { reason: 'changed', op, kind: 'call', expected: { seq, subject: `@${fn}` } };
}
