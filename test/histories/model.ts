/**
 * The plain model of a project: two scripts, the calls that fail at the moment, and how often each call was executed. `predict` says what a
 * command must do; where a parallel loop allows several orders, the observed events choose among them.
 */
import { Failure, interpret, textOf } from './interpret.js';
import { emptyRecord, keep, usableFor, type Record, type Result, type Trace } from './record.js';
import { edited, type Edit, type Library, type Literal, type Script } from './script.js';
import { resolve, type Target } from './target.js';

export type Name = 'job' | 'collect';

export interface Command {
  readonly script: Name;
  readonly checkpoint: boolean;
  readonly fresh: boolean;
  readonly resume: Target | undefined;
  readonly fork: 'the other' | 'itself' | 'nobody' | undefined;
}

/** The parts of a run that are seen from outside. */
export interface Observed {
  /** Killed: nothing is known of how it would have ended. */
  readonly outcome: 'completed' | 'failed' | 'killed';
  /** Code of the error, where there is one and it can be seen. */
  readonly error?: string | undefined;
  readonly output: readonly string[];
  /** The calls that were really executed: lines of `calls.log`. */
  readonly executed: readonly string[];
  /** Undefined when nothing was recorded. */
  readonly events: readonly string[] | undefined;
}

/** The runtime and the rules disagree. */
export class Disagreement extends Error {}

export class Model {
  readonly scripts: { [N in Name]: Script };
  private readonly records: { [N in Name]: Record } = { job: emptyRecord(), collect: emptyRecord() };
  private readonly counts = new Map<string, number>();
  broken: readonly Literal[] = [];

  constructor(
    job: Script,
    collect: Script,
    private readonly library: Library,
  ) {
    this.scripts = { job, collect };
  }

  edit(name: Name, edits: readonly Edit[]): void {
    this.scripts[name] = edited(this.scripts[name], edits);
  }

  clean(name: Name): void {
    this.records[name] = emptyRecord();
  }

  /** Follows an observed run, and throws a `Disagreement` if the rules don't allow it. */
  follow(command: Command, observed: Observed): void {
    const record = this.records[command.script];
    const lender = command.fork === undefined ? undefined : this.records[command.script === 'job' ? 'collect' : 'job'];
    const policy = policyOf(command, this.scripts[command.script]);
    const refusal = policy.isRecording ? this.begin(command, record, lender) : undefined;
    if (refusal !== undefined) {
      same('outcome', observed.outcome, 'failed');
      // A script without a run of its own is unknown as a source, itself or not.
      if (observed.error !== undefined && !(refusal === 'FORK_SELF' && observed.error === 'FORK_UNKNOWN'))
        same('error', observed.error, refusal);
      same('output', observed.output, []);
      same('questions', observed.executed, []);
      same('events', observed.events, undefined);
      return;
    }
    if (policy.isRecording !== (observed.events !== undefined))
      same('whether it was recorded', observed.events !== undefined, policy.isRecording);
    this.walk(command, observed, { record, lender, policy });
  }

  /** Sections 3 and 8: what a command drops before it starts, or why it doesn't. */
  private begin({ script, fresh, resume, fork }: Command, record: Record, lender: Record | undefined): string | undefined {
    if (fork === 'itself') return 'FORK_SELF';
    if (fork === 'nobody' || (lender !== undefined && lender.runs.length === 0)) return 'FORK_UNKNOWN';
    const own: Record = fresh ? emptyRecord() : record;
    const { askName, surveyName } = this.scripts[script].functions;
    const declared = [askName, surveyName, 'grade', 'poll', 'review', 'outer', 'round', 'scan', 'joined', 'again'];
    const dropped = resume && resolve(resume, { own, lender, declared });
    if (dropped && 'error' in dropped) return dropped.error;
    if (fresh) {
      record.freshFrom = record.runs.length;
      record.results = [];
      record.refused = new Set();
    }
    if (dropped) {
      record.results = record.results.filter((result) => !dropped.own.includes(result));
      for (const { key } of dropped.borrowed) record.refused.add(key);
    }
    return undefined;
  }

  private walk(
    { script }: Command,
    observed: Observed,
    { record, lender, policy }: { readonly record: Record; readonly lender: Record | undefined; readonly policy: Policy },
  ): void {
    const trace: Trace[] = [];
    const output: string[] = [];
    const executed: string[] = [];
    const ofThisRun = new Set<Result>();
    const borrowed = new Map((lender?.results ?? []).map((result) => [result.key, result]));
    if (policy.isRecording) record.runs.push(trace);
    const steps = interpret({
      script: this.scripts[script],
      library: this.library,
      isRecording: policy.isRecording,
      trace,
      show: (text) => output.push(text),
      known: (key) => {
        const lent = record.refused.has(key) ? undefined : borrowed.get(key);
        const own = usableFor(record, key);
        return lent ?? (own && (policy.servesEarlierRuns || ofThisRun.has(own)) ? own : undefined);
      },
      completed: (result) => {
        keep(record, result);
        ofThisRun.add(result);
      },
      answer: (name, tag, args) => {
        const line = `${name} ${JSON.stringify(args)}`;
        executed.push(line);
        const count = (this.counts.get(line) ?? 0) + 1;
        this.counts.set(line, count);
        if (this.broken.map(textOf).includes(textOf(args[0] ?? null))) throw new Failure('broken');
        return `${tag}(${args.map(textOf).join(',')})#${count}`;
      },
    });

    const error = this.advance(steps, observed);
    if (observed.outcome !== 'killed') {
      same('outcome', observed.outcome, error === undefined ? 'completed' : 'failed');
      if (error === 'CHECKPOINT_TWICE' && observed.error !== undefined) same('error', observed.error, error);
      same('questions', observed.executed.toSorted(), executed.toSorted());
    } else this.checkKilled(observed.executed, executed);
    // Without events it is not known where in the script the kill was.
    const isOpenEnded = observed.outcome === 'killed' && !policy.isRecording;
    same('output', observed.output, isOpenEnded ? output.slice(0, observed.output.length) : output);
  }

  /** The message of the error that ends the run. */
  private advance(steps: ReturnType<typeof interpret>, { outcome, events = [] }: Observed): string | undefined {
    try {
      let at = 0;
      for (let next = steps.next(0); !next.done; at++) {
        const event = events[at];
        const allowed = next.value.map((step) => step());
        if (event === undefined && outcome === 'killed') return undefined;
        const chosen = allowed.findIndex((step) => step !== undefined && step === event);
        if (chosen < 0) same(`event ${at}`, event ?? 'the end of the run', allowed.length === 1 ? allowed[0] : allowed);
        next = steps.next(chosen);
      }
      if (at < events.length) same(`event ${at}`, events[at], 'the end of the run');
      return undefined;
    } catch (error) {
      if (error instanceof Failure) return error.message;
      throw error;
    }
  }

  /** A call that was started before the kill may have been executed or not; if it was, it counts. */
  private checkKilled(observed: readonly string[], started: readonly string[]): void {
    const unexpected = [...observed];
    const missing: string[] = [];
    for (const line of started) {
      const at = unexpected.indexOf(line);
      if (at < 0) missing.push(line);
      else unexpected.splice(at, 1);
    }
    if (unexpected.length > 0) same('questions', observed, started);
    for (const line of missing) this.counts.set(line, (this.counts.get(line) ?? 0) - 1);
  }
}

interface Policy {
  readonly isRecording: boolean;
  readonly servesEarlierRuns: boolean;
}

/** Section 11.1. */
function policyOf({ checkpoint, fresh, resume, fork }: Command, { header }: Script): Policy {
  if (resume !== undefined) return { isRecording: true, servesEarlierRuns: true };
  if (header === 'never') return { isRecording: false, servesEarlierRuns: false };
  const isAsked = checkpoint || fresh || fork !== undefined;
  return { isRecording: isAsked || header !== undefined, servesEarlierRuns: header !== 'manual' };
}

function same(what: string, actual: unknown, expected: unknown): void {
  const [left, right] = [JSON.stringify(actual, undefined, 2), JSON.stringify(expected, undefined, 2)];
  if (left !== right) throw new Disagreement(`${what}\n  runtime: ${left}\n  rules:   ${right}`);
}
