/**
 * The world of a replay: it answers from the journal and touches nothing. A question without a recorded answer is a divergence.
 *
 * R1  No process, no file, no network, no model; two sinks take what the script writes.
 * R2  Answers come in the order of the record (`order.ts`); sleeps are over at once.
 * R3  Of a run that did not end in order the record may lack answers: whoever asks for one waits, as then.
 */
import { textTooLarge } from '../../../journal/payloads.js';
import type { EventOf, Json } from '../../../journal/event.js';
import { sha256 } from '../../../journal/canonical.js';
import type { OpPath } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import {
  anyResult,
  callAround,
  isWhole,
  nextResult,
  type RecordedEffect,
  type Recording,
} from '../../../replay/recording/recorded-world.js';
import type { Frame } from '../../runtime/frame.js';
import { canonicalRequest, subjectOf } from '../../operation/effect-facts.js';
import type { EffectResult, EffectRequest, EffectKind, World } from '../../world/world.js';
import { OutputExceedsText } from '../../world/process/output.js';
import { WorldError } from '../../world/world.js';
import { concealDivergence } from '../ports/conceal.js';
import type { Divergence } from './divergence.js';
import type { ReplayOrder } from './replay-order.js';
import type { ReplayedHooks } from './replayed-hooks.js';

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
  readonly currentText?: (path: string) => Promise<string | undefined>;
  /** Notes it, and says whether the replay goes on with the next best answer. */
  readonly diverge: (divergence: Divergence) => boolean;
  /** Somebody waits for an answer that the record doesn't have (R3). */
  readonly onStuck: () => void;
  readonly hooks: Pick<ReplayedHooks, 'isInside'>;
  /** What was called off by the run itself, and not by its end, is called off again. */
  readonly isCalledOff?: (answer: RecordedEffect) => boolean;
}

export interface ReplayedWorld {
  readonly world: World;
  readonly perform: <Q extends EffectKind>(frame: Frame, question: Q, request: EffectRequest<Q>) => Promise<EffectResult<Q>>;
  /** The world outside of operations looks like this at declared output files. */
  readonly files: Map<string, EffectResult<'file.bytes'>>;
  effectCount(): number;
}

/** Their answers say nothing, so that a changed script can go on without one. */
const ACTIONS: ReadonlySet<EffectKind> = new Set<EffectKind>([
  'stream.write',
  'file.write',
  'file.append',
  'file.remove',
  'file.restore',
  'env.set',
]);

export function createReplayedWorld(options: ReplayedWorldOptions): ReplayedWorld {
  const { store, recording, order, sinks, diverge } = options;
  const files = new Map<string, EffectResult<'file.bytes'>>();
  let given = 0;
  let refuse: ((error: Error) => void) | undefined;
  const closed = new Promise<never>((_resolve, reject) => (refuse = reject));
  closed.catch(() => undefined);

  async function ask<Q extends EffectKind>(frame: Frame, question: Q, request: EffectRequest<Q>): Promise<EffectResult<Q>> {
    const op = frame.op.path;
    if (question === 'clock.sleep') {
      const slept = take(nextResult(recording, op, question, undefined));
      if (slept === undefined && options.hooks.isInside(op)) return closed;
      await order.waitFor(slept ?? -1, frame);
      return {} as EffectResult<Q>;
    }
    const asked = canonicalRequest(request);
    const recorded =
      nextResult(recording, op, question, sha256(asked)) ??
      (await holding(async (release) => (await underKey(op, question, asked)) ?? without(frame, question, request, release)));
    take(recorded);
    await Promise.race([order.waitFor(recorded?.seq ?? -1, frame), closed]);
    if (recorded !== undefined) given++;
    const answer =
      recorded === undefined ? ({} as EffectResult<Q>) : await holding((release) => answerOf(recorded, question, request, release));
    emit(question, request, answer);
    return answer;
  }

  /** Nobody else is given anything while `work` reads; it says so itself before it waits for good. */
  async function holding<T>(work: (release: () => void) => Promise<T>): Promise<T> {
    const release = order.hold();
    return work(release).finally(release);
  }

  /** A request with secrets in it is recorded under a keyed digest. */
  async function underKey(op: OpPath, question: EffectKind, asked: string): Promise<RecordedEffect | undefined> {
    const secrets = await store.knownSecrets();
    return secrets && nextResult(recording, op, question, secrets.digest(asked));
  }

  /** The next best answer; undefined: none is needed. */
  async function without(frame: Frame, question: EffectKind, request: object, release: () => void): Promise<RecordedEffect | undefined> {
    const op = frame.op.path;
    if (options.hooks.isInside(op)) return quietly(release);
    if (!isWhole(recording)) return forever(release);
    const there = nextResult(recording, op, question, undefined);
    const expected = there && { seq: there.seq, subject: there.subject, ...(await textWritten(there)) };
    const divergence: Divergence = {
      reason: there ? 'changed' : 'new',
      op,
      kind: question,
      ...(expected ? { expected } : {}),
      actual: { subject: subjectOf(question, request), request },
    };
    const goesOn = diverge(concealDivergence(divergence, frame.run.secrets));
    const next = there ?? anyResult(recording, question, sha256(canonicalRequest(request)));
    if (!goesOn || (next === undefined && !ACTIONS.has(question))) throw endOfReplay();
    return next;
  }

  function forever(release: () => void): Promise<never> {
    options.onStuck();
    return quietly(release);
  }

  function quietly(release: () => void): Promise<never> {
    release();
    return closed;
  }

  async function textWritten({ kind, place }: RecordedEffect): Promise<{ request?: unknown }> {
    if (kind !== 'stream.write') return {};
    const event = (await store.readAt(place.ref, place.position)) as EventOf<'effect.performed'> | undefined;
    const text = event?.result && (await store.resolve(event.result, event.request));
    return text === undefined ? {} : { request: { text } };
  }

  async function answerOf<Q extends EffectKind>(
    recorded: RecordedEffect,
    question: Q,
    request: EffectRequest<Q>,
    release: () => void,
  ): Promise<EffectResult<Q>> {
    const isInterrupted = recorded.holds === 'interrupted';
    if (isInterrupted && options.hooks.isInside(recorded.op)) return quietly(release);
    if (isInterrupted && options.isCalledOff?.(recorded) !== true) return forever(release);
    if (recorded.holds === 'nothing') return unanswerable(recorded, question === 'node.import' ? 'not-recordable' : 'unreadable');
    if (ACTIONS.has(question)) return {} as EffectResult<Q>;
    const now = question === 'file.read' ? await presentSource((request as EffectRequest<'file.read'>).path) : undefined;
    if (now !== undefined) return { text: now } as EffectResult<Q>;
    const event = (await store.readAt(recorded.place.ref, recorded.place.position)) as EventOf<'effect.performed'> | undefined;
    if (isInterrupted || recorded.holds === 'error') {
      const output = event?.result && textTooLarge(event.result);
      if (output) throw new OutputExceedsText(output);
      throw new WorldError(event?.errorCode ?? 'CODE_THREW', event?.error ?? '', { hint: event?.errorHint });
    }
    const kept = event?.result && (await store.resolve(event.result, event.request));
    const answer = recorded.holds === 'call' ? await answerOfCall(recorded, question, kept, release) : kept;
    return answer === undefined ? unanswerable(recorded, 'unreadable') : (answer as EffectResult<Q>);
  }

  async function presentSource(path: string): Promise<string | undefined> {
    return options.currentText?.(path);
  }

  /** Made of the result of the call, whose text or value it was. */
  async function answerOfCall(
    { op }: RecordedEffect,
    question: EffectKind,
    kept: Json | undefined,
    release: () => void,
  ): Promise<object | undefined> {
    const call = callAround(recording, op);
    if (!call?.completed) return forever(release); // the run ended in between
    const { place } = call.completed;
    const event = await store.readAt(place.ref, place.position);
    const result = event?.type === 'call.completed' ? await store.resolve(event.result, event.key) : undefined;
    if (result === undefined) return undefined;
    return question === 'code.run' ? { value: result, log: '' } : { stdout: result, stderr: '', exitCode: 0, ...(kept as object) };
  }

  function unanswerable({ seq, op, kind, subject }: RecordedEffect, reason: 'not-recordable' | 'unreadable'): never {
    diverge({ reason, op, kind, expected: { seq, subject } });
    throw endOfReplay();
  }

  function emit<Q extends EffectKind>(question: Q, request: EffectRequest<Q>, answer: EffectResult<Q>): void {
    if (question === 'stream.write') {
      const { stream, text } = request as EffectRequest<'stream.write'>;
      sinks[stream](text);
    } else if (question === 'code.run' && (request as EffectRequest<'code.run'>).echo) {
      sinks.stdout((answer as EffectResult<'code.run'>).log);
    }
  }

  /** What is asked on behalf of nobody: hooks' time limits, passed on error output, declared files, the files of a pipeline for people. */
  async function askDirectly<Q extends EffectKind>(question: Q, request: EffectRequest<Q>): Promise<EffectResult<Q>> {
    if (question === 'clock.sleep') return closed;
    if (question === 'file.bytes') {
      const { path } = request as EffectRequest<'file.bytes'>;
      return (files.get(path) ?? { missing: 'absent', detail: 'not recorded' }) as EffectResult<Q>;
    }
    if (question === 'file.write' || question === 'file.remove') return {} as EffectResult<Q>;
    if (question === 'file.list') return { files: [], folders: [] } as EffectResult<'file.list'> as EffectResult<Q>;
    if (question !== 'stream.write') throw new Error(`nobody asks for ${question} in a replay`);
    emit(question, request, {} as EffectResult<Q>);
    return {} as EffectResult<Q>;
  }

  const world: World = {
    perform: askDirectly,
    async close(reason) {
      refuse?.(new WorldError('INTERRUPTED', `interrupted: ${reason}`));
    },
  };
  return { world, perform: ask, files, effectCount: () => given };
}

class EndOfReplay extends WorldError {}

/** Thrown where the replay can't go on, whatever the script does about errors. */
export function endOfReplay(): WorldError {
  return new EndOfReplay('INTERRUPTED', 'the replay has ended');
}

export function isEndOfReplay(error: unknown): boolean {
  return error instanceof EndOfReplay;
}

function take(recorded: RecordedEffect | undefined): number | undefined {
  if (recorded) recorded.given = true;
  return recorded?.seq;
}
