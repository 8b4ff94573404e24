/** One execution of the body of a call. Collects what the body reports about itself, and what its reply says. calls.md 2, 7 and 9. */
import type { WrittenFile } from '../../journal/facts/call-event.js';
import type { CallKey, OpPath } from '../../journal/ids.js';
import type { SourceLocation } from '../errors.js';
import type { BodyReport } from './body-report.js';
import { CostsInside } from './costs-inside.js';
import type { CountedTime } from './counted-time.js';
import type { Headers } from './evidence/times.js';
import type { Failure, FailureClass } from './failure.js';
import type { CallOptions } from './options.js';
import type { SessionTotals } from './price/session-totals.js';
import { continuedSession } from './replies/program.js';
import { UnresolvedInside } from './unresolved-inside.js';
import { addUsage, withoutExcess } from './usage.js';
import { namesKnownProgram, readReply, type ReadReply } from './replies/read-reply.js';
import type { Reply, ReportedUsage } from './replies/reply.js';

/** Classes in which a command of a recognised program inside a body fails the call around it. calls.md 7.4. */
const FAILS_THE_CALL: ReadonlySet<FailureClass> = new Set<FailureClass>(['rate-limit', 'overloaded', 'quota', 'auth', 'content', 'budget']);

/** The place of an attempt in its call, as scripts see it in `@mx.call`. */
export interface AttemptView {
  /** From 1. */
  readonly try: number;
  /** The class of the attempt before. */
  readonly class?: FailureClass;
  /** The rules of the schema that the last reply broke, as long as no other reply came. */
  readonly problem?: readonly string[];
  readonly lane?: string;
  readonly model?: string;
}

export class Attempt {
  /** The reply of the command or code that is the body. */
  reply: ReadReply | undefined;
  /** The same as it came back. */
  raw: Reply | undefined;
  /** The failure that the body itself reported. */
  reported: Failure | undefined;
  /** The failure of a command inside the body that fails the call (calls.md 7.4), also where a construct collected its error. */
  failedInside: Failure | undefined;
  exitCode: number | undefined;
  /** The line of the script at which the command that is the body failed, where it says so. */
  place: SourceLocation | undefined;
  /** The body made calls of its own, which were executed or reused. */
  hadCalls = false;
  /** The body ran a command or code outside of such calls. */
  ranOwn = false;
  /** The body is not executed: its result came back in an earlier execution. */
  isReceived = false;
  /** The last text in quotes that code of the body printed or returned; its value is the text inside the quotes. */
  quoted: { readonly written: string; readonly text: string } | undefined;
  private bodyUsage: ReportedUsage | undefined;
  /** The usage that each command inside the body had. */
  private readonly innerUsages: ReportedUsage[] = [];
  /** Recognised replies of commands inside the body. */
  private innerReplies: Set<string> | undefined;
  private innerHeaders: Headers | undefined;
  private innerSession: string | undefined;

  constructor(
    /** The call. */
    readonly op: OpPath,
    readonly view: AttemptView,
    readonly options: CallOptions,
    /** The functions that were running when the call was made: those above them belong to its body. */
    readonly around: object | undefined,
    readonly nowMs: () => number,
    /** The costs of sessions up to now; absent in a replay, which reads no cost. */
    private readonly sessions?: SessionTotals,
  ) {
    this.startedMs = nowMs();
  }

  private readonly startedMs: number;

  get elapsedMs(): number {
    return this.nowMs() - this.startedMs;
  }

  /** By path: the files that calls inside wrote, or had written where their results were reused. */
  innerFiles: Map<string, WrittenFile> | undefined;

  /** The attempt that its call is inside of; where a guard requested it, that of the first execution. */
  outer: Attempt | undefined;

  /** A guard requested its call. */
  isRequested = false;

  /** The attempt that counts what has no result inside its call: `outer`, and also where the call is made in a hook or a guard. */
  countsIn: Attempt | undefined;

  /** The call that counts: where a guard requested this one, that of the first execution. */
  private get countedAs(): OpPath {
    return this.isRequested ? (this.countsIn?.countedAs ?? this.op) : this.op;
  }

  /** The costs of the calls inside its call, in this attempt and those before it. Undefined until one is known. */
  costsInside: CostsInside | undefined;

  /** Undefined until a call inside has failed. */
  private unresolved: UnresolvedInside | undefined;

  /** Its time as far as it counts for limits. Absent where neither it nor an attempt around it has one. */
  time: CountedTime | undefined;

  /** The span of the attempt, for the programs that it starts; undefined where nobody traces the run. */
  traceparent: string | undefined;

  /** The body reported nothing, and did nothing but make calls, whose cost is theirs (calls.md 13.4), or nothing at all. */
  get onlyCalls(): boolean {
    return this.isReceived || (this.hadCalls && !this.ranOwn && this.usages.length === 0);
  }

  /** Receives what code and programs of the body report. */
  report: BodyReport | undefined;

  /** Adds to what the body reported before. calls.md 9.4. */
  reportUsage(usage: ReportedUsage): void {
    this.bodyUsage = addUsage(this.bodyUsage, usage);
  }

  hadFiles(files: readonly WrittenFile[]): void {
    this.innerFiles ??= new Map();
    for (const file of files) this.innerFiles.set(file.path, { ...file, inner: true });
  }

  /** Adds the cost of an attempt of a call inside; `key` where it gave a result. */
  paidInside(usd: number, key: CallKey | undefined): void {
    (this.costsInside ??= new CostsInside()).paid(usd, key);
    this.outer?.paidInside(usd, key);
  }

  /** Adds what a call inside saved that had a recorded result. */
  reusedInside(usd: number, key: CallKey): void {
    (this.costsInside ??= new CostsInside()).reused(usd, key);
    this.outer?.reusedInside(usd, key);
  }

  /** Notes that a call inside failed. */
  unresolvedInside(key: CallKey, op: OpPath, around = this.countedAs): void {
    (this.unresolved ??= new UnresolvedInside()).addFailed({ key, op, around });
    this.countsIn?.unresolvedInside(key, op, around);
  }

  /** Notes that a call inside ended without a result: what failed inside it is made again with it. */
  endedInside(op: OpPath, around = this.countedAs): void {
    this.unresolved?.endWithoutResult(op, around);
    this.countsIn?.endedInside(op, around);
  }

  /** Notes that a call inside has a result; one of an earlier execution may have been made without this many calls. */
  resolvedInside(key: CallKey, op: OpPath, without = 0, around = this.countedAs): void {
    this.unresolved?.makeAgain(key, op);
    if (without > 0) (this.unresolved ??= new UnresolvedInside()).addIncomplete({ key, op, calls: without, around });
    this.countsIn?.resolvedInside(key, op, without, around);
  }

  /** Notes that the call begins to be executed again at `op`, because a guard requested it. */
  repeatedAt(op: OpPath): void {
    this.receivedWithout = 0;
    this.executedAgain({ op, around: this.countedAs });
  }

  /** Notes that this attempt begins, so that nothing is made any more of what the attempts of its call before it came to. */
  begins(): void {
    if (this.isRequested) this.countsIn?.repeatedAt(this.op);
    else this.countsIn?.executedAgain({ op: this.op, around: this.op });
  }

  private executedAgain(execution: { readonly op: OpPath; readonly around: OpPath }): void {
    this.unresolved?.executeAgain(execution);
    this.countsIn?.executedAgain(execution);
  }

  /** The calls without which the result was made that came back in an earlier execution; 0 where a guard requested a further one. */
  receivedWithout = 0;

  /** Counts the calls inside without whose results the body goes on. */
  get unresolvedCount(): number {
    return this.receivedWithout + (this.unresolved?.count ?? 0);
  }

  reportHeaders(headers: Headers): void {
    this.innerHeaders = { ...this.innerHeaders, ...headers };
  }

  /**
   * Reads the reply of the command or code that is the body. `adapter`: of a program that is known without an option, and whose caller
   * takes the result out of the reply itself.
   */
  readOwn(reply: Reply, commandLine?: string, adapter = this.options.reply): ReadReply {
    this.exitCode = reply.exitCode === 0 ? undefined : reply.exitCode;
    this.raw = reply;
    const read = readReply(reply, {
      // The function reads it later, because it may take a while.
      ...(adapter === undefined ? {} : { adapter: typeof adapter === 'string' ? adapter : 'text', isText: adapter === 'text' }),
      ...(commandLine === undefined ? {} : { commandLine }),
      nowMs: this.nowMs(),
    });
    if (read.usage) this.isPassedOn(reply, read, commandLine);
    this.reply = this.ownCost(read, commandLine);
    return this.reply;
  }

  /** Reads the reply of a command somewhere inside the body. Returns the failure that fails the call there and then. calls.md 7.4. */
  readInner(reply: Reply, commandLine: string): Failure | undefined {
    const read = readReply(reply, { commandLine, nowMs: this.nowMs() });
    const { adapter, failure, usage, session, headers } = this.ownCost(read, commandLine);
    if (usage && !this.isPassedOn(reply, read, commandLine)) this.innerUsages.push(usage);
    if (headers) this.reportHeaders(headers);
    if (adapter === 'text' && failure?.evidence !== 'text') return undefined;
    this.innerSession = session ?? this.innerSession;
    if (failure && FAILS_THE_CALL.has(failure.class)) this.failedInside ??= failure;
    return this.failedInside;
  }

  /** Returns what the failure of a command in the body was, by its output and status. */
  failureIn(reply: Reply, commandLine: string | undefined): Failure | undefined {
    return readReply(reply, { ...(commandLine === undefined ? {} : { commandLine }), nowMs: this.nowMs() }).failure;
  }

  /** Notes a reply of a model. True where another command of the body had printed it, and this one passes it on: it was paid for once. */
  private isPassedOn({ stdout }: Reply, { adapter, session, text, usage }: ReadReply, commandLine: string | undefined): boolean {
    const same = [stdout.trim(), ...(session === undefined ? [] : [JSON.stringify([adapter, session, text, usage])])];
    const known = (this.innerReplies ??= new Set());
    const isKnown = same.some((each) => known.has(each));
    for (const each of same) known.add(each);
    return isKnown && !namesKnownProgram(commandLine);
  }

  private ownCost(reply: ReadReply, commandLine: string | undefined): ReadReply {
    const read = reply.usage
      ? { ...reply, usage: withoutExcess(reply.usage, (member, why) => this.report?.warnOf([{ member, why }])) }
      : reply;
    const continued = commandLine === undefined ? undefined : continuedSession(commandLine);
    return this.sessions?.ownCost(read, continued) ?? read;
  }

  /** One for each reply. What the body reports replaces what all its replies say, member by member. calls.md 9.4. */
  get usages(): readonly ReportedUsage[] {
    const { bodyUsage, reply } = this;
    const read = reply?.usage ? [...this.innerUsages, reply.usage] : this.innerUsages;
    return bodyUsage ? [{ ...read.reduce<ReportedUsage | undefined>(addUsage, undefined), ...bodyUsage }] : read;
  }

  get headers(): Headers | undefined {
    const read = this.reply?.headers;
    return read && this.innerHeaders ? { ...read, ...this.innerHeaders } : (this.innerHeaders ?? read);
  }

  get session(): string | undefined {
    return this.reply?.session ?? this.innerSession;
  }
}
