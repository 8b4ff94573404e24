/**
 * Decides which recorded result a call of a workflow script may reuse: the same question asked again is another sample.
 * workflows-js.md 6.2.
 *
 * SAMPLE-1  No two calls of a run share a sample, calls in flight included.
 * SAMPLE-2  A call takes the sample that its own path used; else one of its own branch; else, if its path is new, the oldest.
 * SAMPLE-3  Without one it is executed, under the lowest number that neither a call of this run nor a usable result has.
 */
import { SECRET_QUESTION, type CallKey, type OpPath } from '../../journal/ids.js';
import { parentOf } from '../fold/op-path.js';
import { usableEntry, type Memo, type UsableEntry } from '../memo/memo.js';
import { questionOf, type AgentCalls } from './agent-calls.js';

export interface SampledCall {
  readonly op: OpPath;
  /** The digits of its question, which its path has if no secret is in it. */
  readonly question: string;
  /**
   * Returns the keys that a result of the sample of this number, from 1, may be recorded under. The first is the one that it would be
   * recorded under now; the other one, if any, that of a call which had, or had not, a secret in its request.
   */
  keysOf(number: number): readonly [CallKey, ...CallKey[]];
}

export interface TakenSample {
  /** From 1. */
  readonly number: number;
  readonly key: CallKey;
  /** It has a usable result. */
  readonly isRecorded: boolean;
}

export interface SampleSources {
  /** The calls of the prior runs, and those of fork sources that these did not make. */
  readonly calls: AgentCalls;
  readonly own: Memo;
  readonly forks: readonly Memo[];
}

export class Samples {
  private readonly taken = new Set<CallKey>();

  /** Without sources nothing is reused. */
  constructor(private readonly sources: SampleSources | undefined) {}

  take(call: SampledCall): TakenSample {
    const sample = this.recorded(call) ?? { ...this.unused(call), isRecorded: false };
    for (const key of call.keysOf(sample.number)) this.taken.add(key); // SAMPLE-1
    return sample;
  }

  /** SAMPLE-2 */
  private recorded({ op, question, keysOf }: SampledCall): TakenSample | undefined {
    const { calls } = this.sources ?? {};
    if (!calls) return undefined;
    const usable = (key: CallKey): TakenSample | undefined => {
      const entry = this.taken.has(key) ? undefined : this.entryOf(key);
      const number = entry?.attempt ?? 1;
      return entry && keysOf(number).includes(key) ? { number, key, isRecorded: true } : undefined;
    };
    const own = calls.byPath.get(op);
    const atPath = own === undefined ? undefined : usable(own);
    if (atPath) return atPath;
    const branch = parentOf(op);
    let oldest: { readonly sample: TakenSample; readonly entry: UsableEntry } | undefined;
    for (const [key, branches] of samplesOf(calls, question)) {
      const sample = usable(key);
      if (!sample) continue;
      if (branches.has(branch)) return sample;
      const entry = this.entryOf(key);
      if (entry && (!oldest || isOlder(entry, oldest.entry))) oldest = { sample, entry };
    }
    const isKnown = calls.byPath.has(op) && questionOf(op) !== SECRET_QUESTION; // that path may be another question's
    return isKnown ? undefined : oldest?.sample;
  }

  /** SAMPLE-3 */
  private unused({ keysOf }: SampledCall): Pick<TakenSample, 'number' | 'key'> {
    for (let number = 1; ; number++) {
      const keys = keysOf(number);
      if (keys.every((key) => !this.taken.has(key) && !this.entryOf(key))) return { number, key: keys[0] };
    }
  }

  private entryOf(key: CallKey): UsableEntry | undefined {
    if (!this.sources) return undefined;
    const { own, forks } = this.sources;
    if (!own.refused.has(key)) {
      for (const fork of forks) {
        const entry = usableEntry(fork, key);
        if (entry) return entry;
      }
    }
    return usableEntry(own, key);
  }
}

/** A secret may be known now and not have been then, or the other way round. */
function* samplesOf({ byQuestion }: AgentCalls, question: string): Iterable<[CallKey, ReadonlySet<OpPath | undefined>]> {
  for (const each of [question, SECRET_QUESTION]) yield* byQuestion.get(each) ?? [];
}

function isOlder({ result: one }: UsableEntry, { result: other }: UsableEntry): boolean {
  return one.ref.run === other.ref.run ? one.seq < other.seq : one.ref.run < other.ref.run;
}
