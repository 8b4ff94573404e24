/**
 * Runs one script: gives its realm what it asks for, and sees it to its end. workflows-js.md 3, 4 and 11.
 *
 * SCRIPT-1  An error that ends the run is no error of the script: what it waits for then never comes, so that it can't catch it.
 * SCRIPT-2  The run ends when the script has ended and everything that it began is recorded.
 * SCRIPT-3  Paths are given out in the order in which a branch asks, before anything is awaited.
 */
import type { Json } from '../../../journal/event.js';
import { MlldError } from '../../errors.js';
import { performEffect } from '../../operation/perform-effect.js';
import { perform } from '../../operation/perform.js';
import { recordSource } from '../../operation/sources.js';
import type { Frame } from '../../runtime/frame.js';
import { siteOf } from '../../runtime/position.js';
import { createModule } from '../../language/source-module.js';
import { Denial } from '../../runtime/denial.js';
import { TIMER_MAX_MS } from '../../world/clock.js';
import { compileCode, createClosedRealm, currentContext, type ClosedRealm } from '../../world/code/closed-realm.js';
import { BOOTSTRAP } from '../realm/bootstrap.js';
import { readAgentRequest, RequestRefused } from './agent-options.js';
import { askAgent } from './ask-agent.js';
import { Branch, inBranches, type Iterate } from './branch.js';
import { compiledScript, placeIn, scriptError, type Thrown } from './script-error.js';
import type { WorkflowPorts, WorkflowSource } from './ports.js';
import { stopped } from './until-aborted.js';

/** The most agents of one run, reused results included. */
const AGENTS_MAX = 1000;

export interface ScriptRequest {
  readonly source: WorkflowSource;
  /** `[]` where nothing was given. */
  readonly args: readonly Json[];
  readonly clockMs: number;
  /** The phase that the script begins with: that of the one that calls it. */
  readonly phase?: string | undefined;
  readonly isNested: boolean;
}

/** Resolves to `[]` where the script returned nothing. Throws its error, with its place, or what ended the run. */
export function runScript(ports: WorkflowPorts, frame: Frame, request: ScriptRequest): Promise<readonly Json[]> {
  return new ScriptRun(ports, frame, request).run();
}

/** A `parallel` or `pipeline` that goes on. */
interface Group {
  readonly performed: Promise<void>;
  /** Absent where an element has not begun. */
  readonly items: readonly (Item | undefined)[];
  /** The numbers of those that a guard denied when their work had ended. */
  readonly denied: readonly number[];
}

/** An element of a group whose work has begun. */
interface Item {
  readonly path: string;
  readonly end: () => void;
  readonly fail: (error: unknown) => void;
}

/** The realm's own code gives each request the values that it takes. */
type Handle = (...values: readonly never[]) => Json | undefined | void | Promise<Json | undefined>;
type Answer = readonly [0, Json?] | readonly [1, string, string];
type ScriptRef = Parameters<WorkflowPorts['findScript']>[0];

class ScriptRun {
  readonly root: Branch;
  private readonly branches = new Map<string, Branch>();
  private readonly groups = new Map<string, Group>();
  private readonly timers = new Map<number, NodeJS.Timeout>();
  private readonly inFlight = new Set<Promise<unknown>>();
  /** Those of agents and of other scripts. */
  private readonly calls = new Set<Promise<unknown>>();
  private readonly reached = new Set<string>();
  private realm: ClosedRealm | undefined;
  private count = 0;
  private isOver = false;
  private readonly ended: Promise<readonly Json[]>;
  private complete: (result: readonly Json[]) => void = () => undefined;
  private abort: (error: unknown) => void = () => undefined;

  constructor(
    private readonly ports: WorkflowPorts,
    frame: Frame,
    private readonly request: ScriptRequest,
  ) {
    const { file, display, text } = request.source;
    const directory = file.slice(0, Math.max(file.lastIndexOf('/'), 0));
    const module = createModule({ path: file, display, directory, text: text.text, isMain: !request.isNested });
    this.root = new Branch({ ...frame, module }, { phase: request.phase, clockMs: request.clockMs });
    this.ended = new Promise((resolve, reject) => {
      this.complete = resolve;
      this.abort = reject;
    });
  }

  async run(): Promise<readonly Json[]> {
    const { source, isNested } = this.request;
    const { frame } = this.root;
    const { signal } = frame.run;
    const code = compiledScript(source, compileCode);
    await recordSource(frame, source.file, source.text.text, isNested ? 'module' : 'script');
    this.branches.set(this.root.path, this.root);
    if (signal.aborted) throw stopped(); // a realm gets no answers from a run that is over, not even when it is set up
    const onAbort = (): void => this.fail(stopped());
    let hasEnded = false;
    signal.addEventListener('abort', onAbort);
    try {
      const onStray = (message: string): void => frame.run.warn(`an error that the script does not handle: ${message}`);
      this.realm = createClosedRealm({ bootstrap: BOOTSTRAP, ask: (name, text) => this.answer(name, text), onStray });
      this.realm.start(code, this.root.path);
      this.failIfStuck();
      const result = await this.ended;
      hasEnded = true;
      return result;
    } finally {
      this.isOver = true;
      signal.removeEventListener('abort', onAbort);
      for (const timer of this.timers.values()) clearTimeout(timer);
      while (this.calls.size > 0) await Promise.allSettled(this.calls);
      // The inner ones first, and each behind the calls in it, so that no operation ends behind the one around it.
      for (const { items, performed } of [...this.groups.values()].reverse()) {
        items.forEach((item) => (hasEnded ? item?.end() : item?.fail(stopped())));
        await performed.catch(() => undefined);
      }
      while (this.inFlight.size > 0) await Promise.allSettled(this.inFlight); // SCRIPT-2
      this.realm?.close();
    }
  }

  /** A promise is answered by its id, and its value delivered later. */
  private readonly requests: { readonly [name: string]: Handle } = {
    setup: () => {
      const { args, source } = this.request;
      return [args.length === 0 ? null : (args as Json[]), this.ports.totalTokens, source.text.importName];
    },
    agent: (prompt: Json, options: Json, stack: string) => this.called(this.agent(prompt, options, stack)),
    workflow: (ref: ScriptRef, ...args: readonly Json[]) => this.called(this.workflow(ref, args)),
    group: (name: string, total: number) => this.group(name, total),
    itemEnd: (id: string, index: number) => this.itemEnd(id, index),
    itemLost: (id: string, index: number, item: string, ...thrown: Thrown) => this.itemLost(id, index, item, thrown),
    groupEnd: (id: string) => this.groupEnd(id),
    stage: (path: string, number: number) => this.stage(path, number),
    phase: (title: string) => this.phase(title),
    log: (text: string) => this.log(text),
    spent: () => this.ports.totals.spentTokens,
    now: () => this.here().nowMs,
    random: () => this.here().random(this.ports.seed),
    timer: (id: number, ms: number) => this.timer(id, ms),
    untimer: (id: number) => {
      clearTimeout(this.timers.get(id));
      this.timers.delete(id);
    },
    done: (result?: string) => this.complete(result === undefined ? [] : (JSON.parse(result) as readonly Json[])),
    failed: (...thrown: Thrown) => this.fail(scriptError(thrown, this.request.source)),
  };

  private here(): Branch {
    return this.branches.get(currentContext() ?? '') ?? this.root;
  }

  /** Must not throw: the realm would see an error of this program. */
  private answer(name: string, text: string): string {
    return JSON.stringify(this.isOver ? [0] : this.answerTo(name, text));
  }

  private answerTo(name: string, text: string): Answer {
    try {
      const value = this.requests[name]?.(...(JSON.parse(text) as never[]));
      return answerWith(value instanceof Promise ? this.later(value) : value);
    } catch (error) {
      return this.refusal(error);
    }
  }

  private later(work: Promise<Json | undefined>): string {
    const id = String(++this.count);
    const answered = work.then(answerWith, (error: unknown) => this.refusal(error));
    this.track(answered.then((answer) => this.deliver(id, answer)));
    return id;
  }

  /** An error that is not for the script to see ends the run. */
  private refusal(error: unknown): Answer {
    if (error instanceof RequestRefused) return [1, error.type, error.message];
    this.fail(error);
    return [0];
  }

  private track(work: Promise<unknown>): void {
    this.inFlight.add(work);
    void work.finally(() => {
      this.inFlight.delete(work);
      this.failIfStuck();
    });
  }

  private called<T>(call: Promise<T>): Promise<T> {
    this.calls.add(call);
    return call.finally(() => this.calls.delete(call));
  }

  private deliver(id: string, answer: Answer): void {
    if (!this.isOver) this.realm?.deliver([id, JSON.stringify(answer)]);
  }

  /** @param stack says where the script called: a text of the realm, which a script may have made */
  private async agent(prompt: Json, options: Json, stack: string): Promise<Json | undefined> {
    const branch = this.here();
    const request = readAgentRequest(prompt, options);
    const { totals } = this.ports;
    if (++totals.calls > AGENTS_MAX)
      throw new MlldError('AGENTS_MAX', `a run has at most ${AGENTS_MAX} agents, and the script calls one more`, {
        hint: 'ask one agent about several items, or split the script into several runs',
      });
    const { run } = branch.frame;
    for (const name of request.unknown) {
      if (run.calls?.isFirst(`agent option ${name}`) ?? true) run.warn(`agent(): the option ${name} is not known, and not passed on`);
    }
    const { module } = this.root.frame;
    const site = (): string | undefined => {
      const found = placeIn(stack, module.display, module.text);
      return found && siteOf(module, found.at);
    };
    const result = await askAgent(this.ports, branch, request, site);
    if ('value' in result) return result.value;
    if (result.unfit !== undefined) throw new RequestRefused('Error', result.unfit);
    return null;
  }

  private async workflow(ref: ScriptRef, args: readonly Json[]): Promise<Json | undefined> {
    const branch = this.here();
    const { isNested, source } = this.request;
    if (isNested) throw new RequestRefused('Error', 'workflow(): a script that another one runs can run no other: one level only');
    const ordinal = branch.nextOrdinal('workflow');
    const name = typeof ref === 'string' ? ref : ref.scriptPath;
    const operation = { kind: 'workflow', segment: 'workflow', ordinal, name, labels: [], inputs: [] };
    let result: readonly Json[] = [];
    await perform(branch.frame, operation, async (frame): Promise<undefined> => {
      const found = await this.ports.findScript(ref, source, frame.op.path).catch((error: unknown) => {
        throw new RequestRefused('Error', `workflow(): ${(error as Error).message}`);
      });
      const script = new ScriptRun(this.ports, frame, { source: found, args, clockMs: branch.nowMs, phase: branch.phase, isNested: true });
      try {
        result = await script.run();
      } catch (error) {
        if (!(error instanceof MlldError) || error.code !== 'WORKFLOW_FAILED') throw error;
        throw new RequestRefused('Error', error.message);
      } finally {
        branch.join([script.root]);
      }
    });
    return result[0];
  }

  /**
   * Begins a `parallel` or `pipeline`: its id, and the paths of its branches, `null` for elements that a guard denied. The realm does the
   * work in them, and then ends it.
   */
  private group(kind: string, total: number): Promise<Json> {
    const id = `g${++this.count}`;
    const items: (Item | undefined)[] = [];
    const denied: number[] = [];
    let left = total;
    return new Promise((resolve, reject) => {
      const settle = (index: number, item: Item | undefined): void => {
        items[index] = item;
        if (--left === 0) resolve([id, items.map((known) => known?.path ?? null)]);
      };
      const begin = async (index: number, iterate: Iterate): Promise<void> => {
        const work = (branch: Branch): Promise<void> =>
          new Promise((end, fail) => {
            if (this.isOver) {
              end(); // a hook before it took longer than the script, which has ended its items
              return;
            }
            this.branches.set(branch.path, branch);
            settle(index, { path: branch.path, end, fail });
          });
        await iterate(index, work).catch((error: unknown) => {
          const hasBegun = items[index] !== undefined;
          if (!(error instanceof Denial)) return hasBegun ? undefined : reject(error); // the script knows those of elements that have begun
          this.root.frame.run.warn(
            `in ${kind}(), item ${index + 1} of ${total}: its result is null: ${error.message}`,
            `lost ${error.message}`,
          );
          if (hasBegun) denied.push(index);
          else settle(index, undefined);
        });
      };
      const performed = inBranches(this.here(), { kind, total }, async (iterate) => {
        await Promise.all(Array.from({ length: total }, (_, index) => begin(index, iterate)));
        if (this.root.frame.run.signal.aborted) throw stopped();
      });
      performed.then(() => resolve([id, []]), reject); // where no element, or not each, could begin
      this.groups.set(id, { performed, items, denied });
    });
  }

  private itemEnd(id: string, index: number): void {
    this.groups.get(id)?.items[index]?.end();
  }

  /** No loss is silent: an error that became `null`. workflows-js.md 4. */
  private itemLost(id: string, index: number, item: string, thrown: Thrown): void {
    const error = scriptError(thrown, this.request.source);
    const { message, location } = error;
    const place = location ? ` (${location.file}:${location.line}:${location.column})` : '';
    this.root.frame.run.warn(`in ${item}: a function failed, so that its result is null: ${message}${place}`, `lost${place || message}`);
    this.groups.get(id)?.items[index]?.fail(error);
  }

  /** Returns the numbers of the elements whose results a guard denied. */
  private async groupEnd(id: string): Promise<Json> {
    const group = this.groups.get(id);
    await group?.performed;
    this.groups.delete(id);
    return [...(group?.denied ?? [])];
  }

  private stage(path: string, number: number): string {
    const item = this.branches.get(path);
    if (!item) throw new Error(`there is no branch ${path}`);
    const stage = item.at({ ...item.frame, op: item.frame.op.nth('stage', number) });
    this.branches.set(stage.path, stage);
    return stage.path;
  }

  private phase(title: string): void {
    if (title.trim() === '') throw new RequestRefused('TypeError', 'phase(title): the title must be a text that is not empty');
    const branch = this.here();
    branch.phase = title;
    const { run, op } = branch.frame;
    const key = `${op.path} ${title}`;
    if (this.reached.has(key)) return;
    this.reached.add(key);
    if (!run.checkpoints.has(title)) this.log(`[${title}]`);
    run.checkpoints.add(title);
    run.recorder.post({ type: 'checkpoint.reached', name: title });
  }

  private log(text: string): void {
    const { frame } = this.here();
    const writing = performEffect(frame, 'stream.write', { stream: 'stderr', text: `${text}\n` }).catch((error: unknown) => {
      if (!frame.run.signal.aborted) this.fail(error);
    });
    this.track(writing);
  }

  private timer(id: number, ms: number): void {
    const context = currentContext();
    const timer = setTimeout(
      () => {
        this.timers.delete(id);
        this.realm?.deliver([String(id)], context ?? this.root.path);
        this.failIfStuck();
      },
      Math.min(Math.max(ms, 0), TIMER_MAX_MS),
    );
    this.timers.set(id, timer);
  }

  /** SCRIPT-1 */
  private fail(error: unknown): void {
    this.isOver = true;
    const { run } = this.root.frame;
    // Agents that wait for a slot are not started any more; those in flight are waited for.
    if (!(error instanceof MlldError) || (error.code !== 'WORKFLOW_FAILED' && error.code !== 'INTERRUPTED')) run.calls?.dispatcher.end();
    this.abort(error);
  }

  /** Nothing is under way that could continue the script, and it has not ended. */
  private failIfStuck(): void {
    setImmediate(() => {
      if (this.isOver || this.inFlight.size > 0 || this.timers.size > 0) return;
      const message = 'the script waits for a promise that nothing can resolve any more';
      this.fail(new MlldError('WORKFLOW_FAILED', message, { hint: 'look for a `new Promise` that never calls its resolve' }));
    });
  }
}

function answerWith(value: Json | undefined | void): Answer {
  return value === undefined ? [0] : [0, value];
}
