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
import { TIMER_MAX_MS } from '../../world/clock.js';
import { compileCode, createClosedRealm, currentContext, type ClosedRealm } from '../../world/code/closed-realm.js';
import { BOOTSTRAP } from '../realm/bootstrap.js';
import { readAgentRequest, RequestRefused } from './agent-options.js';
import { askAgent } from './ask-agent.js';
import { Branch } from './branch.js';
import { compiledScript, placeIn, scriptError, type Thrown } from './script-error.js';
import type { WorkflowPorts, WorkflowSource } from './ports.js';

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

interface Group {
  readonly branches: readonly Branch[];
  readonly end: () => void;
}

interface AskedAgent {
  readonly prompt: Json;
  readonly options: Json;
  /** Says where the script called; the text of the realm, which a script may have made. */
  readonly stack: string;
}

type Answer = readonly [0, Json?] | readonly [1, string, string];

class ScriptRun {
  private readonly branches = new Map<string, Branch>();
  private readonly groups = new Map<string, Group>();
  private readonly performed = new Map<string, Promise<unknown>>();
  private readonly timers = new Map<number, NodeJS.Timeout>();
  private readonly inFlight = new Set<Promise<unknown>>();
  private readonly root: Branch;
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
    const onAbort = (): void => this.fail(new MlldError('INTERRUPTED', 'The run was interrupted'));
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    try {
      const onStray = (message: string): void => frame.run.warn(`an error that the script does not handle: ${message}`);
      this.realm = createClosedRealm({ bootstrap: BOOTSTRAP, ask: (name, text) => this.answer(name, text), onStray });
      this.realm.start(code, this.root.path);
      return await this.ended;
    } finally {
      this.isOver = true;
      signal.removeEventListener('abort', onAbort);
      for (const timer of this.timers.values()) clearTimeout(timer);
      for (const { end } of this.groups.values()) end();
      await Promise.allSettled(this.performed.values());
      while (this.inFlight.size > 0) await Promise.allSettled(this.inFlight); // SCRIPT-2
      this.realm?.close();
    }
  }

  /** The clock of the script's own branch, for the one that called it. */
  get branch(): Branch {
    return this.root;
  }

  private here(): Branch {
    return this.branches.get(currentContext() ?? '') ?? this.root;
  }

  /** Must not throw: the realm would see an error of this program. */
  private answer(name: string, text: string): string {
    let answer: Answer;
    try {
      answer = this.isOver ? [0] : this.dispatch(name, JSON.parse(text) as readonly Json[]);
    } catch (error) {
      if (error instanceof RequestRefused) answer = [1, error.type, error.message];
      else {
        this.fail(error);
        answer = [0];
      }
    }
    return JSON.stringify(answer);
  }

  private dispatch(name: string, values: readonly Json[]): Answer {
    const [first = null, second = null] = values;
    switch (name) {
      case 'setup': {
        const { args, source } = this.request;
        return [0, [args.length === 0 ? null : (args as Json[]), this.ports.totalTokens, source.text.importName]];
      }
      case 'begin':
        return [0, this.begin(String(first), JSON.parse(String(second)) as readonly Json[])];
      case 'stage':
        return [0, this.stage(String(first), Number(second))];
      case 'phase':
        this.phase(String(first));
        return [0];
      case 'log':
        this.log(String(first));
        return [0];
      case 'lost':
        this.lost(String(first), values.slice(1) as unknown as Thrown);
        return [0];
      case 'spent':
        return [0, this.ports.totals.spentTokens];
      case 'now':
        return [0, this.here().nowMs];
      case 'random':
        return [0, this.here().random(this.ports.seed)];
      case 'timer':
        this.timer(Number(first), Number(second));
        return [0];
      case 'untimer':
        clearTimeout(this.timers.get(Number(first)));
        this.timers.delete(Number(first));
        return [0];
      case 'end':
        this.end(values);
        return [0];
      default:
        throw new Error(`the realm asks for "${name}"`);
    }
  }

  /** Begins what is answered later, and returns the id of the answer. */
  private begin(name: string, values: readonly Json[]): string {
    const id = String(++this.count);
    const work = this.started(name, values, this.here());
    const answering = work.then(
      (value) => this.deliver(id, value === undefined ? [0] : [0, value]),
      (error: unknown) => {
        if (error instanceof RequestRefused) this.deliver(id, [1, error.type, error.message]);
        else this.fail(error);
      },
    );
    this.inFlight.add(answering);
    void answering.finally(() => {
      this.inFlight.delete(answering);
      this.failIfStuck();
    });
    return id;
  }

  private started(name: string, [first = null, second, third]: readonly Json[], branch: Branch): Promise<Json | undefined> {
    switch (name) {
      case 'agent':
        return this.agent(branch, { prompt: first, options: second ?? {}, stack: String(third) });
      case 'workflow':
        return this.workflow(branch, first, second === undefined ? [] : [second]);
      case 'group':
        return this.group(branch, String(first), Number(second));
      case 'groupEnd':
        return this.groupEnd(branch, String(first));
      default:
        throw new Error(`the realm begins "${name}"`);
    }
  }

  private deliver(id: string, answer: Answer): void {
    if (!this.isOver) this.realm?.deliver([id, JSON.stringify(answer)]);
  }

  private agent(branch: Branch, { prompt, options, stack }: AskedAgent): Promise<Json | undefined> {
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
    const asking = askAgent(this.ports, branch, request, { scriptDirectory: module.directory, site });
    return asking.then((result) => {
      if ('value' in result) return result.value;
      if (result.unfit !== undefined) throw new RequestRefused('Error', result.unfit);
      return null;
    });
  }

  private async workflow(branch: Branch, ref: Json, args: readonly Json[]): Promise<Json | undefined> {
    const { isNested, source } = this.request;
    if (isNested) throw new RequestRefused('Error', 'workflow(): a script that another one runs can run no other: one level only');
    const ordinal = branch.nextOrdinal('workflow');
    const wanted = typeof ref === 'string' ? ref : (ref as { readonly scriptPath: string });
    const name = typeof wanted === 'string' ? wanted : wanted.scriptPath;
    const operation = { kind: 'workflow', segment: 'workflow', ordinal, name, labels: [], inputs: [] };
    let result: readonly Json[] = [];
    await perform(branch.frame, operation, async (frame): Promise<undefined> => {
      const found = await this.ports.findScript(wanted, source, frame.op.path).catch((error: unknown) => {
        throw new RequestRefused('Error', `workflow(): ${(error as Error).message}`);
      });
      const script = new ScriptRun(this.ports, frame, { source: found, args, clockMs: branch.nowMs, phase: branch.phase, isNested: true });
      try {
        result = await script.run();
      } catch (error) {
        if (!(error instanceof MlldError) || error.code !== 'WORKFLOW_FAILED') throw error;
        throw new RequestRefused('Error', error.message);
      } finally {
        branch.join([script.branch]);
      }
    });
    return result[0];
  }

  /** Begins a `parallel` or `pipeline`: its id, and the paths of its branches. */
  private async group(branch: Branch, name: string, total: number): Promise<Json | undefined> {
    const id = `g${++this.count}`;
    const operation = { kind: name, segment: name, ordinal: branch.nextOrdinal(name), name: null, labels: [], inputs: [], total };
    return new Promise((resolve, reject) => {
      const performed = perform(branch.frame, operation, async (frame): Promise<undefined> => {
        const branches = Array.from({ length: total }, (_, index) => branch.begin({ ...frame, op: frame.op.at(index) }));
        for (const each of branches) this.branches.set(each.path, each);
        await new Promise<void>((end) => {
          this.groups.set(id, { branches, end });
          resolve([id, branches.map(({ path }) => path)]);
        });
      });
      this.performed.set(id, performed);
      performed.catch(reject);
    });
  }

  private async groupEnd(branch: Branch, id: string): Promise<undefined> {
    const group = this.groups.get(id);
    if (!group) return;
    group.end();
    await this.performed.get(id);
    branch.join(group.branches);
    this.groups.delete(id);
    this.performed.delete(id);
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
    this.inFlight.add(writing);
    void writing.finally(() => this.inFlight.delete(writing));
  }

  /** No loss is silent: an error that became `null`. workflows-js.md 4. */
  private lost(item: string, thrown: Thrown): void {
    const { message, location } = scriptError(thrown, this.request.source);
    const place = location ? ` (${location.file}:${location.line}:${location.column})` : '';
    this.root.frame.run.warn(`in ${item}: a function failed, so that its result is null: ${message}${place}`, `lost${place || message}`);
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

  private end([kind, ...values]: readonly Json[]): void {
    const [result] = values;
    if (kind === 'done') this.complete(typeof result === 'string' ? (JSON.parse(result) as readonly Json[]) : []);
    else this.fail(scriptError(values as unknown as Thrown, this.request.source));
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
