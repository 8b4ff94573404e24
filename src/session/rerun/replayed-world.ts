/**
 * The world of a replay: returns recorded results and touches nothing. An effect that is not recorded is a divergence.
 *
 * REPLAY-WORLD-1  No process, no file, no network, no model; two sinks take what the script writes.
 * REPLAY-WORLD-2  Results arrive in the order of the record (`replay-order.ts`); sleeps end at once.
 * REPLAY-WORLD-3  The record of a run that did not end in order may lack results: code that needs one waits for good, as it did in the run.
 * REPLAY-WORLD-4  A stage that was ended between the start of its call and that of its command has no record of the command: it waits until
 *                 it is ended again.
 */
import { textTooLarge } from '../../../journal/payloads.js';
import type { EventOf, Json } from '../../../journal/event.js';
import { sha256 } from '../../../journal/canonical.js';
import type { OpPath } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import {
  anyEffect,
  callAround,
  isWhole,
  nextEffect,
  type RecordedEffect,
  type Recording,
} from '../../../replay/recording/recorded-world.js';
import { bodyTimedOut } from '../../runtime/body-deadline.js';
import type { Frame } from '../../runtime/frame.js';
import { canonicalRequest, subjectOf } from '../../operation/effect-facts.js';
import type { EffectResult, EffectRequest, EffectKind, World } from '../../world/world.js';
import { OutputExceedsText } from '../../world/process/output.js';
import { WorldError } from '../../world/world.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import { concealDivergence } from '../ports/conceal.js';
import type { Divergence } from './divergence.js';
import { pureModule } from './pure-modules.js';
import type { ReplayedCalls } from './replayed-calls.js';
import { aborted, type ReplayOrder } from './replay-order.js';

export interface Sinks {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}

export interface ReplayedWorldOptions {
  readonly store: JournalStore;
  readonly recording: Recording;
  readonly order: ReplayOrder;
  readonly sinks: Sinks;
  /** The present text of a recorded module or template, in place of the recorded one. */
  readonly currentText?: ((path: string) => Promise<string | undefined>) | undefined;
  /** Records the divergence; returns true if the replay continues with the next best result. */
  readonly diverge: (divergence: Divergence) => boolean;
  /** Called when code waits for a result that the record doesn't have (REPLAY-WORLD-3). */
  readonly onStuck: () => void;
  /** True for code that is ended at its place in the record, whatever else it waits for. */
  readonly isCut: (op: OpPath) => boolean;
  readonly calls: Pick<ReplayedCalls, 'isFailing'>;
  /** True for an effect that the run itself interrupted, and not its end: it is interrupted again. */
  readonly isCalledOff?: ((effect: RecordedEffect) => boolean) | undefined;
}

export interface ReplayedWorld {
  readonly world: World;
  readonly perform: <Q extends EffectKind>(frame: Frame, kind: Q, request: EffectRequest<Q>) => Promise<EffectResult<Q>>;
  /** Declared output files, as code outside of operations sees them. */
  readonly files: Map<string, EffectResult<'file.bytes'>>;
  /** Counts the recorded effects that were replayed, without sleeps. */
  effectCount(): number;
}

/** Their results hold no data, so a changed script can continue without one. */
const ACTIONS: ReadonlySet<EffectKind> = new Set<EffectKind>([
  'stream.write',
  'file.write',
  'file.append',
  'file.remove',
  'file.restore',
  'env.set',
]);

export function createReplayedWorld(options: ReplayedWorldOptions): ReplayedWorld {
  const { store, recording, order, sinks, diverge, isCut, calls } = options;
  const files = new Map<string, EffectResult<'file.bytes'>>();
  let replayed = 0;
  let refuse: ((error: Error) => void) | undefined;
  const closed = new Promise<never>((_resolve, reject) => (refuse = reject));
  closed.catch(() => undefined);

  async function perform<Q extends EffectKind>(frame: Frame, kind: Q, request: EffectRequest<Q>): Promise<EffectResult<Q>> {
    const op = frame.op.path;
    if (kind === 'clock.sleep') {
      const slept = take(nextEffect(recording, op, kind, undefined));
      if (slept === undefined && isCut(op)) return closed;
      await order.waitFor(slept ?? -1, frame);
      return {} as EffectResult<Q>;
    }
    const canonical = canonicalRequest(request);
    const recorded =
      nextEffect(recording, op, kind, sha256(canonical)) ??
      (await holding(async (release) => (await underKey(op, kind, canonical)) ?? nextBest(frame, kind, request, release)));
    take(recorded);
    await Promise.race([order.waitFor(recorded?.seq ?? -1, frame), closed]);
    if (recorded !== undefined) replayed++;
    const result =
      recorded === undefined ? ({} as EffectResult<Q>) : await holding((release) => resultOf(recorded, kind, request, release));
    emit(kind, request, result);
    return result;
  }

  /** Holds back all other results while `work` reads. `work` releases them itself before it waits for good. */
  async function holding<T>(work: (release: () => void) => Promise<T>): Promise<T> {
    const release = order.hold();
    return work(release).finally(release);
  }

  /** A request with secrets in it is recorded under a keyed digest. */
  async function underKey(op: OpPath, kind: EffectKind, canonical: string): Promise<RecordedEffect | undefined> {
    const secrets = await store.knownSecrets();
    return secrets && nextEffect(recording, op, kind, secrets.digest(canonical));
  }

  /** Reports a divergence, and returns the next best recorded effect; undefined if none is needed. */
  async function nextBest(frame: Frame, kind: EffectKind, request: object, release: () => void): Promise<RecordedEffect | undefined> {
    const op = frame.op.path;
    if (isCut(op)) return waitForClose(release);
    if (!isWhole(recording)) return waitStuck(release);
    await untilEnded(frame, release);
    const similar = nextEffect(recording, op, kind, undefined);
    const expected = similar && { seq: similar.seq, subject: similar.subject, ...(await textWritten(similar)) };
    const divergence = withoutUndefined<Divergence>({
      reason: similar ? 'changed' : 'new',
      op,
      kind,
      expected,
      actual: { subject: subjectOf(kind, request), request },
    });
    const continues = diverge(concealDivergence(divergence, frame.run.secrets));
    const next = similar ?? anyEffect(recording, kind, sha256(canonicalRequest(request)));
    if (!continues || (next === undefined && !ACTIONS.has(kind))) throw endOfReplay();
    return next;
  }

  /** Throws what ended the body around (REPLAY-WORLD-4). Returns where nothing did: then the effect is a divergence. */
  async function untilEnded({ op, deadline }: Frame, release: () => void): Promise<void> {
    if (!deadline || callAround(recording, op.path)?.failed?.by !== 'inside') return;
    release();
    await Promise.race([aborted(deadline.signal), order.idle(), closed]);
    if (deadline.isOver) throw bodyTimedOut();
  }

  function waitStuck(release: () => void): Promise<never> {
    options.onStuck();
    return waitForClose(release);
  }

  function waitForClose(release: () => void): Promise<never> {
    release();
    return closed;
  }

  async function textWritten({ kind, place }: RecordedEffect): Promise<{ request?: unknown }> {
    if (kind !== 'stream.write') return {};
    const event = (await store.readAt(place.ref, place.position)) as EventOf<'effect.performed'> | undefined;
    const text = event?.result && (await store.resolve(event.result, event.request));
    return text === undefined ? {} : { request: { text } };
  }

  async function resultOf<Q extends EffectKind>(
    recorded: RecordedEffect,
    kind: Q,
    request: EffectRequest<Q>,
    release: () => void,
  ): Promise<EffectResult<Q>> {
    const isInterrupted = recorded.holds === 'interrupted';
    if (isInterrupted && isCut(recorded.op)) return waitForClose(release);
    if (isInterrupted && options.isCalledOff?.(recorded) !== true) return waitStuck(release);
    const pure = kind === 'node.import' ? await pureModule((request as EffectRequest<'node.import'>).module) : undefined;
    if (pure && recorded.holds === 'nothing') return pure as EffectResult<Q>;
    if (recorded.holds === 'nothing') return unreadable(recorded, kind === 'node.import' ? 'not-recordable' : 'unreadable');
    if (ACTIONS.has(kind)) return {} as EffectResult<Q>;
    const current = kind === 'file.read' ? await presentSource((request as EffectRequest<'file.read'>).path) : undefined;
    if (current !== undefined) return { text: current } as EffectResult<Q>;
    const event = (await store.readAt(recorded.place.ref, recorded.place.position)) as EventOf<'effect.performed'> | undefined;
    if (isInterrupted || recorded.holds === 'error') {
      const output = event?.result && textTooLarge(event.result);
      if (output) throw new OutputExceedsText(output);
      throw new WorldError(event?.errorCode ?? 'CODE_THREW', event?.error ?? '', { hint: event?.errorHint, place: event?.errorAt });
    }
    const kept = event?.result && (await store.resolve(event.result, event.request));
    const result = recorded.holds === 'call' ? await resultOfCall(recorded, kind, kept, release) : kept;
    return result === undefined ? unreadable(recorded, 'unreadable') : (result as EffectResult<Q>);
  }

  async function presentSource(path: string): Promise<string | undefined> {
    return options.currentText?.(path);
  }

  /** The effect was the body of a call: its result is made from the recorded result of the call. */
  async function resultOfCall(
    { op }: RecordedEffect,
    kind: EffectKind,
    kept: Json | undefined,
    release: () => void,
  ): Promise<object | undefined> {
    const call = callAround(recording, op);
    if (calls.isFailing(op)) return waitForClose(release); // the call ends as it failed
    if (!call?.completed) return waitStuck(release); // the run ended before the call did
    const { place } = call.completed;
    const event = await store.readAt(place.ref, place.position);
    const result = event?.type === 'call.completed' ? await store.resolve(event.result, event.key) : undefined;
    if (result === undefined) return undefined;
    if (kind === 'code.run') return { value: result, log: '' };
    // A result that was read from the output is the result of the call anyway, whatever its body makes of this.
    const stdout = typeof result === 'string' ? result : JSON.stringify(result);
    return { stdout, stderr: '', exitCode: 0, ...(kept as object) };
  }

  function unreadable({ seq, op, kind, subject }: RecordedEffect, reason: 'not-recordable' | 'unreadable'): never {
    diverge({ reason, op, kind, expected: { seq, subject } });
    throw endOfReplay();
  }

  function emit<Q extends EffectKind>(kind: Q, request: EffectRequest<Q>, result: EffectResult<Q>): void {
    if (kind === 'stream.write') {
      const { stream, text } = request as EffectRequest<'stream.write'>;
      sinks[stream](text);
    } else if (kind === 'code.run' && (request as EffectRequest<'code.run'>).echo) {
      sinks.stdout((result as EffectResult<'code.run'>).log);
    }
  }

  /** Performs effects outside of operations: time limits of hooks, error output, declared files, and files of a pipeline for people. */
  async function performDirectly<Q extends EffectKind>(kind: Q, request: EffectRequest<Q>): Promise<EffectResult<Q>> {
    if (kind === 'clock.sleep') return closed;
    if (kind === 'file.bytes') {
      const { path } = request as EffectRequest<'file.bytes'>;
      return (files.get(path) ?? { missing: 'absent', detail: 'not recorded' }) as EffectResult<Q>;
    }
    if (kind === 'file.write' || kind === 'file.remove') return {} as EffectResult<Q>;
    if (kind === 'file.list') return { files: [], folders: [] } as EffectResult<'file.list'> as EffectResult<Q>;
    if (kind !== 'stream.write') throw new Error(`a replay performs no ${kind} outside of operations`);
    emit(kind, request, {} as EffectResult<Q>);
    return {} as EffectResult<Q>;
  }

  const world: World = {
    perform: performDirectly,
    async close(reason) {
      refuse?.(new WorldError('INTERRUPTED', `interrupted: ${reason}`));
    },
  };
  return { world, perform, files, effectCount: () => replayed };
}

class EndOfReplay extends WorldError {}

/** Thrown where the replay can't continue, however the script handles errors. */
export function endOfReplay(): WorldError {
  return new EndOfReplay('INTERRUPTED', 'the replay has ended');
}

export function isEndOfReplay(error: unknown): boolean {
  return error instanceof EndOfReplay;
}

function take(recorded: RecordedEffect | undefined): number | undefined {
  if (recorded) recorded.isUsed = true;
  return recorded?.seq;
}
