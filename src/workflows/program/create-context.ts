/**
 * Gives a program its context, and waits for what it began. workflows-js.md 15.
 *
 * PROGRAM-1  Misuse throws before anything is recorded or asked.
 * PROGRAM-2  The run ends when the program has ended and every call that it made is recorded. Whatever still runs then can call nothing.
 * PROGRAM-3  A failed call ends no process, even if the program waits for something else when it fails: what is in flight would be
 *            lost, and paid for again. The journal has the failure, and the report counts it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Json } from '../../../journal/event.js';
import { MlldError } from '../../errors.js';
import { reachCheckpoint } from '../../language/statements/checkpoint.js';
import { performEffect } from '../../operation/perform-effect.js';
import { durationOf } from '../../values/durations.js';
import { TIMER_MAX_MS } from '../../world/clock.js';
import { readAgentRequest, RequestRefused, type AgentOptions } from '../run/agent-options.js';
import { askAgent } from '../run/ask-agent.js';
import type { CallFacts } from '../../runtime/operation.js';
import { inBranches, type Branch } from '../run/branch.js';
import type { AgentPorts } from '../run/ports.js';
import { stopped, untilAborted } from '../run/until-aborted.js';
import { callerOf } from './caller.js';
import { AgentError, type Context, type StepOptions } from './context.js';
import { durableCall, signalOf, type DurablePorts, type DurableRequest } from './durable-call.js';
import { checkCheckpoint, checkOptions, checkParallel, checkText, type CheckpointOptions, type ParallelOptions } from './check-options.js';
import { jsonOf } from './json.js';
import { at, placeIn, type Place } from './place.js';

export interface ProgramPorts extends AgentPorts, DurablePorts {
  readonly seed: string;
  /** The most branches of `ctx.parallel` at once. */
  readonly parallel: number;
}

interface CallOfProgram {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly body: (...args: never) => unknown;
  readonly options: StepOptions | undefined;
  readonly site: CallFacts['site'];
}

/** The function that records when a sleep ends. */
const SLEEP = 'timer.sleep';

export interface OpenedProgram {
  readonly context: Context;
  /** Runs the body at the place where the program begins. */
  run<O>(body: () => Promise<O>): Promise<O>;
}

export function openProgram(ports: ProgramPorts, root: Branch): OpenedProgram {
  const { run } = root.frame;
  const inFlight = new Set<Promise<unknown>>();
  const failures = new WeakSet<object>();
  let hasEnded = false;
  const here = (): Place => placeIn(run) ?? { run, branch: root, call: undefined };
  /** PROGRAM-2. A failure is the caller's to handle. */
  const track = <T>(work: Promise<T>): Promise<T> => {
    inFlight.add(work);
    const end = (): void => void inFlight.delete(work);
    work.then(end, end);
    return work;
  };

  /** Throws where the run has no place for a further call. */
  function mayCall(where: string): void {
    if (run.signal.aborted) throw known(stopped());
    if (!hasEnded) return;
    throw new MlldError('BAD_OPTION', `${where} was called after the end of the program's run`, {
      hint: 'await what the program begins before it returns',
    });
  }

  /** The journal or the report says so already. */
  function known<E>(error: E): E {
    if (typeof error === 'object' && error !== null) failures.add(error);
    return error;
  }

  /** PROGRAM-3. The promise of a call, for a program that may not await it yet. */
  function called<T>(work: Promise<T>): Promise<T> {
    const promise = new Promise<T>((resolve, reject) => {
      work.then(resolve, (error: unknown) => {
        if (typeof error === 'object' && error !== null && failures.has(error)) promise.catch(() => undefined);
        reject(error as Error);
      });
    });
    return promise;
  }

  function durable(where: string, request: Omit<DurableRequest, 'body'>, body: (...args: readonly Json[]) => unknown): Promise<Json> {
    mayCall(where);
    const { branch } = here();
    const made = durableCall(ports, branch, {
      ...request,
      body(args, { frame, key }) {
        const place = { key, report: frame.attempt?.report, signal: () => signalOf(frame) };
        return at({ run, branch: branch.begin(frame), call: place }, () => body(...args));
      },
    });
    return track(
      made.catch((error: unknown) => {
        throw known(error);
      }),
    );
  }

  function call(where: 'llm' | 'step', { name, args, body, options = {}, site }: CallOfProgram): Promise<Json> {
    checkText(`ctx.${where}()`, 'the name', name); // PROGRAM-1
    if (name === SLEEP) throw new MlldError('BAD_OPTION', `ctx.${where}(): ${SLEEP} is the name of the calls of ctx.sleep()`);
    if (!Array.isArray(args)) throw new MlldError('BAD_OPTION', `ctx.${where}(): the arguments of ${name} must be a list`);
    if (typeof body !== 'function') throw new MlldError('BAD_OPTION', `ctx.${where}(): ${name} needs a function that does the work`);
    const checked = checkOptions(`ctx.${where}()`, options);
    const list = args.map((arg, index) => jsonOf(arg, `argument ${index + 1} of ${name}`));
    const source = Function.prototype.toString.call(body);
    return durable(
      `ctx.${where}()`,
      { kind: where, fn: name, args: list, options: checked, source, site },
      body as (...args: readonly Json[]) => unknown,
    );
  }

  async function agent(prompt: string, options: object = {}): Promise<Json> {
    const { branch } = here();
    const site = callerOf(context.agent, run.settings);
    mayCall('ctx.agent()');
    const result = await track(asking(branch, prompt, jsonOf(options, 'the options of the agent'), site));
    if ('value' in result) return result.value;
    throw known(new AgentError((options as { readonly label?: string }).label ?? prompt, result.class, result.unfit ?? result.failed));
  }

  async function asking(branch: Branch, prompt: string, options: Json, site: CallFacts['site']): ReturnType<typeof askAgent> {
    try {
      const request = readAgentRequest(prompt, options);
      ports.totals.calls++;
      return await askAgent(ports, branch, request, site);
    } catch (error) {
      if (!(error instanceof RequestRefused)) throw error;
      if (error.type === 'Error') throw new MlldError('BUDGET', error.message, { cause: error });
      throw new MlldError('BAD_OPTION', `ctx.${error.message}`, { cause: error });
    }
  }

  async function parallel<T, R>(
    items: readonly T[],
    each: (item: T, index: number) => Promise<R> | R,
    options: ParallelOptions = {},
  ): Promise<R[]> {
    if (!Array.isArray(items)) throw new MlldError('BAD_OPTION', 'ctx.parallel(): the items must be a list');
    if (typeof each !== 'function') throw new MlldError('BAD_OPTION', 'ctx.parallel(): the second argument must be a function');
    const { limit = ports.parallel } = checkParallel(options);
    mayCall('ctx.parallel()');
    const { branch, call: around } = here();
    const results: R[] = [];
    const errors = new Map<number, unknown>();
    const work = inBranches(branch, { kind: 'parallel', total: items.length }, async (iterate) => {
      let next = 0;
      const worker = async (): Promise<void> => {
        for (let index = next++; index < items.length; index = next++) {
          try {
            await iterate(index, async (inner) => {
              results[index] = await at({ run, branch: inner, call: around }, () => each(items[index] as T, index));
            });
          } catch (error) {
            errors.set(index, error);
          }
        }
      };
      await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
      if (errors.size > 0 && run.signal.aborted) throw stopped();
      for (const first of [...errors.keys()].sort((left, right) => left - right)) throw errors.get(first);
    });
    await track(work);
    return results;
  }

  async function checkpoint(name: string, options: CheckpointOptions = {}): Promise<void> {
    checkText('ctx.checkpoint()', 'the name', name);
    const { resume, ttlMs } = checkCheckpoint(options);
    mayCall('ctx.checkpoint()');
    if (here().branch !== root)
      throw new MlldError('CHECKPOINT_PLACE', `checkpoint "${name}" is inside of ctx.parallel() or of a call`, {
        hint: 'put it before or behind them: a checkpoint is a point of the whole program',
      });
    await reachCheckpoint(run, name.trim(), { ...(resume !== undefined && { resume }), ...(ttlMs !== undefined && { ttlMs }) });
  }

  async function sleep(time: number | string | Date): Promise<void> {
    const { branch } = here();
    const site = callerOf(context.sleep, run.settings);
    if (time instanceof Date && Number.isNaN(time.getTime())) throw new MlldError('BAD_DURATION', 'Not a time: the date is invalid');
    const written = time instanceof Date ? time.toISOString() : time;
    const ms = time instanceof Date ? undefined : durationOf(time);
    const body = (): string => new Date(ms === undefined ? (time as Date).getTime() : ports.nowMs() + ms).toISOString();
    const wakes = Date.parse(
      String(await durable('ctx.sleep()', { kind: 'sleep', fn: SLEEP, args: [written], options: {}, source: SLEEP, site }, body)),
    );
    if (!run.replayed) await waitUntil(wakes);
    branch.notBefore(wakes);
  }

  /** One timer takes no more than 24.8 days. */
  async function waitUntil(moment: number): Promise<void> {
    for (let leftMs = moment - ports.nowMs(); leftMs > 0; leftMs = moment - ports.nowMs())
      await delay(Math.min(leftMs, TIMER_MAX_MS), undefined, { signal: run.signal }).catch(() => {
        throw known(stopped());
      });
  }

  function log(...values: readonly unknown[]): void {
    const text = values.map(shown).join(' ');
    const writing = performEffect(here().branch.frame, 'stream.write', { stream: 'stderr', text: `${text}\n` });
    void track(writing.catch(() => undefined)); // the run has ended
  }

  const context: Context = {
    // A body returned JSON of the type that it declares.
    llm: (name: string, args: readonly unknown[], body: CallOfProgram['body'], options?: StepOptions) => {
      const site = callerOf(context.llm, run.settings);
      return called((async () => call('llm', { name, args, body, options, site }))()) as never;
    },
    step: (name: string, args: readonly unknown[], body: CallOfProgram['body'], options?: StepOptions) => {
      const site = callerOf(context.step, run.settings);
      return called((async () => call('step', { name, args, body, options, site }))()) as never;
    },
    agent: (prompt: string, options?: AgentOptions) => called(agent(prompt, options)) as never,
    parallel: (items, each, options) => called(parallel(items, each, options)),
    checkpoint: (name, options) => called(checkpoint(name, options)),
    sleep: (time) => called(sleep(time)),
    now: () => here().branch.nowMs,
    random: () => here().branch.random(ports.seed),
    uuid: () => here().branch.uuid(ports.seed),
    log,
    usage(used) {
      const { call: around } = here();
      if (!around) throw outside('ctx.usage()');
      around.report?.usage(used);
    },
    get key() {
      const { call: around } = here();
      if (!around) throw outside('ctx.key');
      return around.key;
    },
    get signal() {
      return here().call?.signal() ?? run.signal;
    },
  };

  return {
    context,
    async run<O>(body: () => Promise<O>): Promise<O> {
      try {
        return await untilAborted(
          run.signal,
          at({ run, branch: root, call: undefined }, async () => body()),
        );
      } finally {
        while (inFlight.size > 0) await Promise.allSettled(inFlight); // PROGRAM-2
        hasEnded = true;
        if (!run.signal.aborted) await run.closeCheckpoint?.();
      }
    },
  };
}

function outside(what: string): MlldError {
  return new MlldError('BAD_OPTION', `${what} belongs inside of the function of ctx.llm() or ctx.step()`);
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
