/**
 * Gives a program its context, and waits for what it began. workflows-js.md 15.
 *
 * PROGRAM-1  Misuse throws before anything is recorded or asked.
 * PROGRAM-2  The run ends when the program has ended and every call that it made is recorded.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Json } from '../../../journal/event.js';
import { MlldError } from '../../errors.js';
import { reachCheckpoint } from '../../language/statements/checkpoint.js';
import { performEffect } from '../../operation/perform-effect.js';
import { durationOf } from '../../values/durations.js';
import { TIMER_MAX_MS } from '../../world/clock.js';
import { readAgentRequest, RequestRefused } from '../run/agent-options.js';
import { askAgent } from '../run/ask-agent.js';
import type { CallFacts } from '../../runtime/operation.js';
import { inBranches, type Branch } from '../run/branch.js';
import type { AgentPorts } from '../run/ports.js';
import { stopped, untilAborted } from '../run/until-aborted.js';
import { callerOf } from './caller.js';
import { AgentError, type Context, type StepOptions } from './context.js';
import { durableCall, signalOf, type DurablePorts, type DurableRequest } from './durable-call.js';
import { checkOptions, checkText } from './check-options.js';
import { jsonOf } from './json.js';
import { at, placeIn, type Place } from './place.js';

export interface ProgramPorts extends AgentPorts, DurablePorts {
  readonly seed: string;
  /** The most branches of `ctx.parallel` at once. */
  readonly parallel: number;
}

interface CallOfProgram {
  readonly name: string;
  readonly args: readonly Json[];
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
  const here = (): Place => placeIn(run) ?? { run, branch: root, call: undefined };
  /** PROGRAM-2. A failure is the caller's to handle. */
  const track = <T>(work: Promise<T>): Promise<T> => {
    inFlight.add(work);
    const end = (): void => void inFlight.delete(work);
    work.then(end, end);
    return work;
  };

  function durable(request: Omit<DurableRequest, 'body'>, body: (...args: readonly Json[]) => unknown): Promise<Json> {
    if (run.signal.aborted) throw stopped();
    const { branch } = here();
    return track(
      durableCall(ports, branch, {
        ...request,
        body(args, { frame, key }) {
          const place = { key, report: frame.attempt?.report, signal: () => signalOf(frame) };
          return at({ run, branch: branch.begin(frame), call: place }, () => body(...args));
        },
      }),
    );
  }

  function call(where: 'llm' | 'step', { name, args, body, options = {}, site }: CallOfProgram): Promise<Json> {
    checkText(`ctx.${where}()`, 'the name', name); // PROGRAM-1
    if (!Array.isArray(args)) throw new MlldError('BAD_OPTION', `ctx.${where}(): the arguments of ${name} must be a list`);
    if (typeof body !== 'function') throw new MlldError('BAD_OPTION', `ctx.${where}(): ${name} needs a function that does the work`);
    const checked = checkOptions(`ctx.${where}()`, options);
    const list = args.map((arg, index) => jsonOf(arg, `argument ${index + 1} of ${name}`));
    const source = Function.prototype.toString.call(body);
    return durable({ kind: where, fn: name, args: list, options: checked, source, site }, body as (...args: readonly Json[]) => unknown);
  }

  async function agent(prompt: string, options: object = {}): Promise<Json> {
    const { branch } = here();
    const site = callerOf(agent, run.settings);
    if (run.signal.aborted) throw stopped();
    const result = await track(asking(branch, prompt, jsonOf(options, 'the options of the agent'), site));
    if ('value' in result) return result.value;
    throw new AgentError((options as { readonly label?: string }).label ?? prompt, result.class, result.unfit ?? result.failed);
  }

  async function asking(branch: Branch, prompt: string, options: Json, site: CallFacts['site']): ReturnType<typeof askAgent> {
    try {
      const request = readAgentRequest(prompt, options);
      ports.totals.calls++;
      return await askAgent(ports, branch, request, site);
    } catch (error) {
      if (error instanceof RequestRefused) throw new MlldError('BAD_OPTION', `ctx.${error.message}`, { cause: error });
      throw error;
    }
  }

  async function parallel<T, R>(
    items: readonly T[],
    each: (item: T, index: number) => Promise<R> | R,
    { limit = ports.parallel }: { readonly limit?: number } = {},
  ): Promise<R[]> {
    if (!Array.isArray(items)) throw new MlldError('BAD_OPTION', 'ctx.parallel(): the items must be a list');
    if (typeof each !== 'function') throw new MlldError('BAD_OPTION', 'ctx.parallel(): the second argument must be a function');
    if (!Number.isInteger(limit) || limit < 1)
      throw new MlldError('BAD_OPTION', 'ctx.parallel(): limit must be a whole number of at least 1');
    const { branch, call: around } = here();
    const results: R[] = [];
    const errors = new Map<number, unknown>();
    const work = inBranches(branch, { kind: 'parallel', total: items.length }, async (begin) => {
      let next = 0;
      const worker = async (): Promise<void> => {
        for (let index = next++; index < items.length; index = next++) {
          try {
            results[index] = await at({ run, branch: begin(index), call: around }, () => each(items[index] as T, index));
          } catch (error) {
            errors.set(index, error);
          }
        }
      };
      await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
    });
    await track(work);
    for (const first of [...errors.keys()].sort((left, right) => left - right)) throw errors.get(first);
    return results;
  }

  async function checkpoint(name: string, { resume, ttlMs }: Parameters<Context['checkpoint']>[1] = {}): Promise<void> {
    checkText('ctx.checkpoint()', 'the name', name);
    if (here().branch !== root)
      throw new MlldError('CHECKPOINT_PLACE', `checkpoint "${name}" is inside of ctx.parallel() or of a call`, {
        hint: 'put it before or behind them: a checkpoint is a point of the whole program',
      });
    await reachCheckpoint(run, name.trim(), { ...(resume !== undefined && { resume }), ...(ttlMs !== undefined && { ttlMs }) });
  }

  async function sleep(time: number | string | Date): Promise<void> {
    const { branch } = here();
    const site = callerOf(sleep, run.settings);
    if (time instanceof Date && Number.isNaN(time.getTime())) throw new MlldError('BAD_DURATION', 'Not a time: the date is invalid');
    const written = time instanceof Date ? time.toISOString() : time;
    const ms = time instanceof Date ? undefined : durationOf(time);
    const body = (): string => new Date(ms === undefined ? (time as Date).getTime() : ports.nowMs() + ms).toISOString();
    const wakes = Date.parse(String(await durable({ kind: 'sleep', fn: SLEEP, args: [written], options: {}, source: SLEEP, site }, body)));
    if (!run.replayed) await waitUntil(wakes);
    branch.notBefore(wakes);
  }

  /** One timer takes no more than 24.8 days. */
  async function waitUntil(moment: number): Promise<void> {
    for (let leftMs = moment - ports.nowMs(); leftMs > 0; leftMs = moment - ports.nowMs())
      await delay(Math.min(leftMs, TIMER_MAX_MS), undefined, { signal: run.signal }).catch(() => {
        throw stopped();
      });
  }

  function log(...values: readonly unknown[]): void {
    const text = values.map(shown).join(' ');
    const writing = performEffect(here().branch.frame, 'stream.write', { stream: 'stderr', text: `${text}\n` });
    void track(writing.catch(() => undefined)); // the run has ended
  }

  const context: Context = {
    // A body returned JSON of the type that it declares.
    llm: async (name, args, body, options) =>
      call('llm', { name, args, body, options, site: callerOf(context.llm, run.settings) }) as never,
    step: async (name, args, body, options) =>
      call('step', { name, args, body, options, site: callerOf(context.step, run.settings) }) as never,
    agent,
    parallel,
    checkpoint,
    sleep,
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
