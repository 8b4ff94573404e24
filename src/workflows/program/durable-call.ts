/**
 * Makes one call of a program: an operation like the llm calls of scripts, so that hooks, guards, cache and journal see it.
 * workflows-js.md 6 and 15.
 *
 * DURABLE-1  A result is the recorded one, fresh or reused: the program gets a copy, and may change it.
 */
import path from 'node:path';
import type { Json } from '../../../journal/event.js';
import type { CallOptions, Retries } from '../../calls/options.js';
import { messageOf, MlldError } from '../../errors.js';
import { callFailureOf } from '../../runtime/calls/call-failure.js';
import type { Definition } from '../../runtime/definitions/definition.js';
import type { Frame } from '../../runtime/frame.js';
import type { CallFacts } from '../../runtime/operation.js';
import { SECRET } from '../../runtime/secrets/secret-registry.js';
import { toJson } from '../../values/native.js';
import { annotate, type Data, type Value } from '../../values/value.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import { RequestRefused } from '../run/agent-options.js';
import type { Branch } from '../run/branch.js';
import type { AgentPorts } from '../run/ports.js';
import { definitionOfTexts, sampledCall } from '../run/sampled-call.js';
import { countTokens, refuseWithoutBudget, type TokenBudget } from '../run/token-budget.js';
import { stopped, untilAborted } from '../run/until-aborted.js';
import type { StepOptions } from './context.js';
import { jsonOf } from './json.js';

export interface DurableRequest {
  readonly kind: 'llm' | 'step' | 'sleep';
  readonly fn: string;
  readonly args: readonly Json[];
  readonly options: StepOptions;
  readonly site: CallFacts['site'];
  /** The text of the body, for the fingerprint. */
  readonly source: string;
  /** Runs where there is no result; the arguments are those that hooks left. */
  readonly body: (args: readonly Json[], inside: { readonly frame: Frame; readonly key: string }) => unknown;
}

export interface DurablePorts extends Pick<AgentPorts, 'take' | 'elapsedOf'>, TokenBudget {
  /** Wall clock, milliseconds since 1970. */
  readonly nowMs: () => number;
  /** The program says which version of it runs. */
  readonly version: string | undefined;
  /** Fills itself, by the name and the text of a body. */
  readonly definitions: Map<string, Definition>;
}

/** The name of a program's version among the parts of a definition. */
export const VERSION = 'version';

export async function durableCall(ports: DurablePorts, branch: Branch, request: DurableRequest): Promise<Json> {
  const { kind, fn, args, options } = request;
  const { frame } = branch;
  const { run } = frame;
  const { label, secret = false, writes } = options;
  const call = sampledCall(ports, branch, { kind, fn, args, key: options.key, site: request.site });
  const thrown: { error?: unknown } = {};
  const labels = secret ? [SECRET] : [];
  const operation = {
    name: label ?? fn,
    labels,
    params: args.map((_, index) => `${index + 1}`),
    llm: {
      labels,
      definition: () => definitionOf(request, ports),
      options: () => callOptions(request),
      async request(sent: readonly Value[]) {
        // A replay asks nobody, whatever the budget of an older program let pass.
        const isCounted = kind === 'llm' && frame.run.replayed?.call(call.op) === undefined;
        if (isCounted && !(await call.sample(sent)).isRecorded) refuseWithoutBudget(ports);
        return call.request(sent);
      },
      ...(writes && { writes: async () => writes.map((file) => path.resolve(run.settings.projectRoot, file)) }),
    },
  };
  try {
    const { value, json } = await call.perform(operation, async (inner, inputs, { key }): Promise<Value> => {
      try {
        const sent = inputs.map((input) => toJson(input));
        const made = request.body(sent, { frame: inner, key });
        const returned = isPromise(made) ? await untilAborted(signalOf(inner), made) : made;
        const result = jsonOf(returned ?? null, `the result of ${fn}`) as Data;
        return secret ? annotate(result, { labels: [SECRET] }) : result;
      } catch (error) {
        thrown.error = error;
        throw run.signal.aborted ? stopped() : asFailure(error);
      }
    });
    if (kind === 'llm') countTokens(ports, value, json);
    return jsonOf(json, `the result of ${fn}`); // DURABLE-1
  } catch (error) {
    if (error instanceof RequestRefused) throw new MlldError('BUDGET', error.message, { cause: error });
    const isOwn = callFailureOf(error)?.op === call.op && 'error' in thrown && !isTimeout(error);
    throw isOwn ? thrown.error : error;
  }
}

/** The attempt ended without its body, whose later error is about something else. */
function isTimeout(error: unknown): boolean {
  return callFailureOf(error)?.class === 'timeout';
}

/** Aborted when the attempt around, or the run, must stop. */
export function signalOf({ deadline, run }: Frame): AbortSignal {
  return deadline ? AbortSignal.any([deadline.signal, run.signal]) : run.signal;
}

function isPromise(made: unknown): made is PromiseLike<unknown> {
  return typeof (made as { readonly then?: unknown } | null | undefined)?.then === 'function';
}

/** An error of the program fails the call, and is none of this program; its members are read along the causes (calls.md 4.1). */
function asFailure(error: unknown): unknown {
  if (error instanceof MlldError) return error;
  return new MlldError('CALL_FAILED', messageOf(error), { cause: error });
}

function callOptions({ kind, options: { retries, timeoutMs } }: DurableRequest): CallOptions {
  return withoutUndefined<CallOptions>({ retries: retriesOf(kind, retries), timeoutMs });
}

/** A deed that may have been done is not done again unasked. */
function retriesOf(kind: DurableRequest['kind'], retries: number | undefined): Retries | undefined {
  const count = retries ?? (kind === 'llm' ? undefined : 0);
  if (count === undefined) return undefined;
  return { 'rate-limit': count, overloaded: count, network: count, timeout: count, 'bad-reply': count, crash: count };
}

function definitionOf({ fn, source }: DurableRequest, { version, definitions }: DurablePorts): Definition {
  const place = `${fn} ${source}`;
  const known = definitions.get(place);
  if (known) return known;
  const definition = definitionOfTexts([['body', fn, source], ...(version === undefined ? [] : [['variable', VERSION, version] as const])]);
  definitions.set(place, definition);
  return definition;
}
