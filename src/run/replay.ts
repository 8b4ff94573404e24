/**
 * Runs a recorded script again in the world of its record. Design section 5, docs/decisions/0022-replay.md.
 *
 * P1  Nothing outside is touched but the journal, which is read, and the two sinks.
 * P2  Hooks, guards, blocks and bodies of calls run again; what they ask the world is answered from the record.
 * P3  The replay is the same when every question had its answer, every answer was asked for, and the run ended the same way.
 */
import path from 'node:path';
import type { RunStatus } from '../../journal/event.js';
import type { OpPath, RunRef } from '../../journal/ids.js';
import type { JournalStore } from '../../journal/store.js';
import { foldRun } from '../../replay/load.js';
import { nextTurn, notGiven, recording as projection, type RecordedAnswer, type Recording } from '../../replay/recorded-world.js';
import { MlldError } from '../errors.js';
import { execute } from '../language/evaluate.js';
import type { Frame } from '../language/frame.js';
import type { Scope } from '../language/scope.js';
import type { Recorder } from '../operation/operation.js';
import { SecretTexts } from '../operation/secret-texts.js';
import type { Value } from '../values/value.js';
import type { Divergence } from './divergence.js';
import { createDocument } from './document.js';
import { settingsOf } from './given.js';
import { mainFrame, newRunState } from './main-frame.js';
import { parseScriptText } from './open-script.js';
import { changedCall, createReplayedAnswers } from './replayed-answers.js';
import { createReplayedWorld, endOfReplay, type Sinks } from './replayed-world.js';
import { createReplayOrder } from './replay-order.js';
import { runScript } from './run-script.js';

export interface ReplayOptions {
  readonly store: JournalStore;
  readonly ref: RunRef;
  /** The project's folder now: used where the run does not say what it was. */
  readonly root: string;
  /** The script's text in place of the recorded one. */
  readonly scriptText?: string;
  /** The present text of a recorded module or template, by its recorded path (relative to the project where it lies in it). */
  readonly sourceText?: (name: string) => Promise<string | undefined>;
  /** Stops behind this event, or at this checkpoint. */
  readonly until?: { readonly seq: number } | { readonly checkpoint: string };
  /** Asked before each answer that the record has. */
  readonly onStep?: (place: Stopped) => Promise<'go on' | 'stop'>;
  /** Goes on behind a divergence with the next best answer. */
  readonly divergences: 'first' | 'all';
  readonly sinks: Sinks;
}

export interface Stopped {
  /** The event that comes next in the record. */
  readonly seq: number;
  readonly op: OpPath;
  /** The nearest one of a name comes first. */
  readonly variables: readonly { readonly name: string; readonly value: Value }[];
}

export interface ReplayReport {
  readonly ref: RunRef;
  /** `cut`: the record ends before the run did, and the replay agrees with all of it. */
  readonly verdict: 'same' | 'diverged' | 'stopped' | 'cut';
  /** How the recorded run ended; undefined when it did not end in order. */
  readonly status: RunStatus | undefined;
  readonly answers: number;
  readonly divergences: readonly Divergence[];
  readonly stopped?: Stopped;
  /** The user's error that ended the replayed script. */
  readonly error?: unknown;
}

/** Throws REPLAY_IMPOSSIBLE for a run whose script is not in the journal, REPLAY_STOP for a place that it never reached. */
export async function replayRun(options: ReplayOptions): Promise<ReplayReport> {
  const { store, ref, until } = options;
  const recording = await foldRun(store, ref, projection);
  const { started } = recording;
  if (!started) throw impossible(ref, 'its first event is damaged');
  const root = started.given?.root ?? options.root;
  const scriptPath = path.resolve(root, ref.workflow);
  const given = await settingsOf(started, { root, scriptDirectory: path.dirname(scriptPath), store });
  if (!given) throw impossible(ref, "what it was given can't be read any more");
  const { settings, state } = given;
  const text = options.scriptText ?? (await recordedScript(store, recording, ref));
  const { script, module } = parseScriptText(text, {
    path: scriptPath,
    mode: started.given?.mode,
    workingDirectory: settings.workingDirectory,
  });

  const course = createCourse(options.divergences);
  let stopped: Stopped | undefined;
  let last: Frame | undefined;
  const stop = (seq: number, { op, scope }: Frame): boolean => {
    stopped = { seq, op: op.path, variables: inScope(scope) };
    course.end();
    return false;
  };
  const lastSeq = stopBehind(until, recording, ref);
  const order = createReplayOrder((seq, waiting) => {
    if (course.signal.aborted) return false;
    const at = (last = waiting ?? last ?? frame);
    if (seq > lastSeq) return stop(seq, at);
    if (!options.onStep || seq < 0) return true;
    return options.onStep({ seq, op: at.op.path, variables: inScope(at.scope) }).then((next) => next === 'go on' || stop(seq, at));
  });
  const { sourceText, sinks } = options;
  const { diverge } = course;
  const replayed = createReplayedWorld({
    store,
    recording,
    order,
    sinks,
    diverge,
    onStuck: () => void order.idle().then(course.end),
    ...(sourceText ? { currentText: (file) => currentSource(recording, root, file, sourceText) } : {}),
  });
  const answers = createReplayedAnswers({
    store,
    recording,
    order,
    diverge,
    placeFile: (name, file) => replayed.files.set(path.resolve(root, name), file),
  });
  const recorder: Recorder = {
    on: false,
    post: () => undefined,
    async append(fact) {
      const change = fact.type === 'call.started' ? await changedCall(recording, store, fact) : undefined;
      if (change && isWhole(recording) && !diverge(change)) throw endOfReplay();
      const about = 'op' in fact ? fact.op : 'name' in fact ? fact.name : '';
      await order.turn(nextTurn(recording, fact.type, about) ?? -1);
      if (fact.type !== 'checkpoint.reached' || !until || !('checkpoint' in until) || until.checkpoint !== fact.name) return undefined;
      stop(recording.checkpoints.get(fact.name) ?? 0, frame);
      throw endOfReplay();
    },
  };

  const collects = started.given?.structured === true;
  const document = createDocument({ streaming: settings.streaming && !collects, collects });
  const ports = {
    world: replayed.world,
    replayed: replayed.ask,
    recorder,
    answers,
    secrets: new SecretTexts(),
    document,
    settings,
    state,
    ending: course.signal,
  };
  const run = newRunState({ options: { io: { ...sinks, stdin: async () => undefined, nowMs: () => 0, monotonicMs: () => 0 } }, ...ports });
  const frame = mainFrame(run, module, execute);
  const ended = runScript(script, frame, { document, printsAtEnd: !settings.streaming && !collects, isFile: true });
  const error = await Promise.race([ended, course.ended]);
  await replayed.world.close('the replay has ended');
  ended.catch(() => undefined); // what it may still say is about the end of the replay

  const divergences = stopped || course.divergences.length > 0 ? course.divergences : endDivergences(recording, error);
  const verdict = stopped ? 'stopped' : divergences.length > 0 ? 'diverged' : isWhole(recording) ? 'same' : 'cut';
  return {
    ref,
    verdict,
    status: recording.finished?.status,
    answers: replayed.answersGiven(),
    divergences,
    ...(stopped ? { stopped } : {}),
    ...(verdict === 'same' && error !== undefined ? { error } : {}),
  };
}

/** Whether the replay goes on, and what it met on its way. */
interface Course {
  readonly signal: AbortSignal;
  readonly divergences: Divergence[];
  readonly ended: Promise<undefined>;
  readonly diverge: (divergence: Divergence) => boolean;
  readonly end: () => void;
}

function createCourse(wanted: ReplayOptions['divergences']): Course {
  const controller = new AbortController();
  const divergences: Divergence[] = [];
  const { signal } = controller;
  const ended = new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined)));
  const end = (): void => controller.abort('failed');
  const diverge = (divergence: Divergence): boolean => {
    if (wanted === 'first' && divergences.length > 0) return false;
    divergences.push(divergence);
    if (wanted === 'first') end();
    return wanted === 'all';
  };
  return { signal, divergences, ended, diverge, end };
}

/** Its journal has all that it was answered. */
function isWhole({ finished }: Recording): boolean {
  return finished?.status === 'completed' || finished?.status === 'failed';
}

async function recordedScript(store: JournalStore, recording: Recording, ref: RunRef): Promise<string> {
  for (const [name, { role, blob, whole }] of recording.sources) {
    if (role !== 'script') continue;
    if (whole !== undefined) {
      const text = await store.resolve(whole, name);
      if (typeof text === 'string') return text;
      throw impossible(ref, 'its script holds secrets, and they were not kept or are sealed with another key');
    }
    const content = await store.getBlob(blob);
    if (content) return Buffer.from(content).toString('utf8');
  }
  throw impossible(ref, 'the text of its script is not in the journal');
}

async function currentSource(
  { sources }: Recording,
  root: string,
  file: string,
  read: NonNullable<ReplayOptions['sourceText']>,
): Promise<string | undefined> {
  const relative = path.relative(root, file);
  const name = relative.startsWith('..') ? file : relative.replaceAll(path.sep, '/');
  return sources.has(name) ? read(name) : undefined;
}

function impossible({ run }: RunRef, why: string): MlldError {
  return new MlldError('REPLAY_IMPOSSIBLE', `Run ${run} can't be replayed: ${why}`, {
    hint: `mlld journal verify ${run} says what is there`,
  });
}

function stopBehind(until: ReplayOptions['until'], { checkpoints, last }: Recording, { run }: RunRef): number {
  if (!until) return Number.POSITIVE_INFINITY;
  if ('seq' in until) {
    if (until.seq <= last) return until.seq;
    throw new MlldError('REPLAY_STOP', `Run ${run} ends with event ${last}`, { hint: `mlld journal show ${run} numbers the events` });
  }
  if (checkpoints.has(until.checkpoint)) return Number.POSITIVE_INFINITY;
  const names = [...checkpoints.keys()].map((name) => `"${name}"`);
  throw new MlldError('REPLAY_STOP', `Run ${run} reached no checkpoint "${until.checkpoint}"`, {
    hint: names.length === 0 ? 'it reached none; --until takes the number of an event' : `it reached ${names.join(', ')}`,
  });
}

function inScope(innermost: Scope): Stopped['variables'] {
  const variables = new Map<string, Value>();
  for (let scope: Scope | undefined = innermost; scope; scope = scope.parent)
    for (const { name, value, kind } of scope.entries()) if (kind !== 'ambient' && !variables.has(name)) variables.set(name, value);
  return [...variables].map(([name, value]) => ({ name, value }));
}

/** What is only known when all is over: something was left out, or the run ended in another way. */
function endDivergences(recording: Recording, error: unknown): Divergence[] {
  const [left] = notGiven(recording).filter(({ kind, holds }) => kind !== 'clock.sleep' && holds !== 'interrupted');
  if (left) return [missing(left)];
  if (!isWhole(recording)) return [];
  const expected = recording.finished?.error;
  const actual = error as MlldError | undefined;
  if (expected?.code === actual?.code) return [];
  return [
    {
      reason: 'ending',
      op: 'main' as OpPath,
      kind: 'run',
      expected: { seq: recording.last, subject: expected ? `${expected.code}: ${expected.message}` : 'completed' },
      actual: { subject: actual ? `${actual.code}: ${actual.message}` : 'completed' },
    },
  ];
}

function missing({ seq, op, kind, subject }: RecordedAnswer): Divergence {
  return { reason: 'missing', op, kind, expected: { seq, subject } };
}
