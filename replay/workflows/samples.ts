/**
 * Decides which recorded result a call of a workflow script may reuse: an equal call made again is another sample.
 * workflows-js.md 6.2.
 *
 * SAMPLE-1  No two calls of a run share a sample, calls in flight included.
 * SAMPLE-2  A call takes the sample that its own path used; else one of its own branch; else, if its path is new, the oldest.
 * SAMPLE-3  Without one it is executed, under the lowest number that neither a call of this run nor a usable result has.
 * SAMPLE-4  A call takes no result that a call of another kind recorded: an agent's and that of an `llm` called `agent` may have one key.
 * SAMPLE-5  A call that is not simulated takes no simulated result, and counts none as a sample.
 */
import { textOfRef, type CallKey, type OpPath } from '../../journal/ids.js';
import { parentOf } from '../fold/op-path.js';
import { isSimulated, usableEntry, type Memo, type UsableEntry } from '../memo/memo.js';
import { kindOf, keyDigitsOf, SECRET_DIGITS, type AgentCalls } from './agent-calls.js';

export interface SampledCall {
  readonly op: OpPath;
  /** The digits of its first call key, which its path has if no secret is in its request. */
  readonly digits: string;
  readonly isSimulated?: boolean;
  /**
   * Returns the keys that a result of the sample of this number, from 1, may be recorded under. The first is the one that it would be
   * recorded under now; the other one, if any, that of a call which had, or had not, a secret in its request.
   */
  keysOf(number: number): readonly [CallKey, ...CallKey[]];
}

interface Sample {
  /** From 1. */
  readonly number: number;
  readonly key: CallKey;
}

export interface TakenSample extends Sample {
  /** It has a usable result. */
  readonly isRecorded: boolean;
}

export interface SampleSources {
  /** The calls of the prior runs, and those of fork sources that these did not make. */
  readonly calls: AgentCalls;
  readonly own: Memo;
  readonly forks: readonly Memo[];
}

interface UsableSample extends Sample {
  readonly entry: UsableEntry;
}

/** Each list ends with the sample that is taken next. */
interface KnownSamples {
  readonly byBranch: Map<OpPath | undefined, UsableSample[]>;
  readonly byAge: UsableSample[];
}

export class Samples {
  private readonly taken = new Set<CallKey>();
  /** By the kind, the first call key, and whether the call is simulated. Made when one does not get the sample of its own path. */
  private readonly known = new Map<string, KnownSamples>();
  /** By the first call key: all lower numbers are in use, which they stay. */
  private readonly lowestUnused = new Map<CallKey, number>();

  /** Without sources nothing is reused. */
  constructor(private readonly sources: SampleSources | undefined) {}

  take(call: SampledCall): TakenSample {
    const recorded = this.sources && this.recorded(call, this.sources);
    const { number, key } = recorded ?? this.unused(call);
    for (const each of call.keysOf(number)) this.taken.add(each); // SAMPLE-1
    return { number, key, isRecorded: recorded !== undefined };
  }

  /** SAMPLE-2 */
  private recorded(call: SampledCall, { calls }: SampleSources): UsableSample | undefined {
    const { op } = call;
    const own = calls.byPath.get(op);
    const ofPath = own === undefined ? undefined : this.usable(own, call);
    if (ofPath && !this.taken.has(ofPath.key)) return ofPath;
    const { byBranch, byAge } = this.knownOf(call, calls);
    const isKnown = calls.byPath.has(op) && keyDigitsOf(op) !== SECRET_DIGITS; // that path may be another request's
    return this.firstFree(byBranch.get(parentOf(op))) ?? (isKnown ? undefined : this.firstFree(byAge));
  }

  private knownOf(call: SampledCall, calls: AgentCalls): KnownSamples {
    const id = `${kindOf(call.op)} ${call.keysOf(1)[0]} ${call.isSimulated === true}`;
    const made = this.known.get(id) ?? { byBranch: new Map<OpPath | undefined, UsableSample[]>(), byAge: [] };
    if (this.known.has(id)) return made;
    this.known.set(id, made);
    for (const [key, branches] of [...samplesOf(calls, call.digits)].toReversed()) {
      const sample = this.usable(key, call);
      if (!sample) continue;
      made.byAge.push(sample);
      for (const branch of branches) {
        const ofBranch = made.byBranch.get(branch);
        if (ofBranch) ofBranch.push(sample);
        else made.byBranch.set(branch, [sample]);
      }
    }
    made.byAge.sort((one, other) => (isOlder(one.entry, other.entry) ? 1 : -1));
    return made;
  }

  /** Removes what is taken, so that the last of equal calls costs no more than the first. */
  private firstFree(samples: UsableSample[] = []): UsableSample | undefined {
    while (this.taken.has(samples.at(-1)?.key as CallKey)) samples.pop();
    return samples.at(-1);
  }

  /** Undefined for a key of another request or kind (SAMPLE-4), or without a usable result. */
  private usable(key: CallKey, call: SampledCall): UsableSample | undefined {
    const { op, keysOf } = call;
    const entry = this.entryOf(key, call);
    if (entry && (this.kindOf(entry) ?? kindOf(op)) !== kindOf(op)) return undefined;
    const number = entry?.attempt ?? 1;
    return entry && keysOf(number).includes(key) ? { number, key, entry } : undefined;
  }

  /** SAMPLE-3 */
  private unused(call: SampledCall): Sample {
    const { keysOf } = call;
    const [id] = keysOf(1);
    for (let number = this.lowestUnused.get(id) ?? 1; ; number++) {
      const keys = keysOf(number);
      if (keys.some((key) => this.taken.has(key) || this.entryOf(key, call))) continue;
      this.lowestUnused.set(id, number + 1);
      return { number, key: keys[0] };
    }
  }

  private kindOf({ result: { ref, seq } }: UsableEntry): string | undefined {
    return this.sources?.calls.kinds.get(textOfRef({ run: ref.run, seq }));
  }

  private entryOf(key: CallKey, call: Pick<SampledCall, 'isSimulated'>): UsableEntry | undefined {
    if (!this.sources) return undefined;
    const { own, forks } = this.sources;
    for (const memo of own.refused.has(key) ? [own] : [...forks, own]) {
      const entry = usableEntry(memo, key);
      if (entry && (call.isSimulated || !isSimulated(memo, entry))) return entry; // SAMPLE-5
    }
    return undefined;
  }
}

/** A secret may be known now and not have been then, or the other way round. */
function* samplesOf({ byDigits }: AgentCalls, digits: string): Iterable<[CallKey, ReadonlySet<OpPath | undefined>]> {
  for (const each of [digits, SECRET_DIGITS]) yield* byDigits.get(each) ?? [];
}

function isOlder({ result: one }: UsableEntry, { result: other }: UsableEntry): boolean {
  return one.ref.run === other.ref.run ? one.seq < other.seq : one.ref.run < other.ref.run;
}
