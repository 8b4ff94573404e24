/**
 * Makes one agent call: an operation like the llm calls of scripts, so that hooks, guards, cache and journal see it.
 * workflows-js.md 6 and 9.
 *
 * AGENT-1  A result counts for budget and clock with what it had cost when it was executed, reused or not. A failure counts for neither: it
 *          is asked again, and a prompt with the time in it behind it must be found again.
 */
import type { Json } from '../../../journal/event.js';
import { programLane } from '../../calls/lanes/program-lane.js';
import type { FailureClass } from '../../calls/failure.js';
import type { CallOptions } from '../../calls/options.js';
import { compileSchema, type ResultSchema } from '../../calls/schema/compile-schema.js';
import { SIMULATED } from '../../../journal/facts/simulated-backend.js';
import { callFailureOf } from '../../runtime/calls/call-failure.js';
import type { Definition } from '../../runtime/definitions/definition.js';
import { Denial } from '../../runtime/denial.js';
import type { Frame } from '../../runtime/frame.js';
import type { OpNode } from '../../runtime/op-node.js';
import type { CallFacts } from '../../runtime/operation.js';
import type { SecretRegistry } from '../../runtime/secrets/secret-registry.js';
import { shortened } from '../../values/shortened.js';
import { textOf } from '../../values/text.js';
import type { Data, Value } from '../../values/value.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import type { AgentBackend } from '../backends/backend.js';
import { refusedAgent, RequestRefused, type AgentRequest } from './agent-options.js';
import { answerOf, promptFor } from './answers.js';
import type { Branch } from './branch.js';
import type { AgentPorts, TakenSample } from './ports.js';
import { definitionOfTexts, digitsOf, sampledCall } from './sampled-call.js';
import { countTokens, refuseWithoutBudget } from './token-budget.js';
import { inWorktree, warnIfGone } from './worktree.js';

const FN = 'agent';
const SCHEMA_RETRIES = 4;
const RETRIES = 3;
const NAME_UNITS = 60;

export interface AgentFailure {
  readonly failed: string;
  readonly class: FailureClass | 'denied';
  /** No answer fitted the schema: the message for a script, which sees an error. */
  readonly unfit?: string;
}

export type AgentResult = { readonly value: Json } | AgentFailure;

/** Throws RequestRefused for what the script has to see as an error. */
export async function askAgent(ports: AgentPorts, branch: Branch, request: AgentRequest, site: CallFacts['site']): Promise<AgentResult> {
  const { frame } = branch;
  const { run } = frame;
  const backend = request.backend === undefined ? ports.backend : backendFor(ports, request.backend);
  const model = request.model ?? ports.model;
  const isSimulated = backend.name === SIMULATED;
  const call = sampledCall(ports, branch, { kind: FN, fn: FN, args: [request.prompt, request.asked], site, isSimulated });
  const phase = request.phase ?? branch.phase;
  const { records, reuses } = run.cache.policy();
  if (!records && !reuses) refuseWithoutBudget(ports);
  let schema: Promise<ResultSchema> | undefined;
  const schemaOfCall = (): Promise<ResultSchema> | undefined => (schema ??= request.schema && schemaOf(request.schema));
  let definition: string | undefined;
  const operation = {
    name: request.label ?? null,
    ...(phase !== undefined && { group: phase }),
    labels: labelsOf(request.label),
    params: ['prompt', 'options'],
    llm: {
      labels: [],
      async request(inputs: readonly Value[]) {
        await schemaOfCall(); // nothing is asked for a schema that can't be used
        if (!(await call.sample(inputs)).isRecorded) refuseWithoutBudget(ports);
        return call.request(inputs);
      },
      loadsGuards: backend.complete !== undefined,
      async definition(_inputs: readonly Value[], op: OpNode) {
        if (request.agentType !== undefined) definition = await ports.definitionOf(request.agentType);
        const own = definitionOfAgent(backend, model, request, definition);
        return backend.complete ? backend.complete(own, { ...frame, op }) : own;
      },
      options: async () => callOptions(request, { schema: await schemaOfCall(), backend, model }),
    },
  };
  const execute = async (inner: Frame, [sent]: readonly Value[], taken: TakenSample): Promise<Value> => {
    const fitting = await schemaOfCall();
    const { try: attempt = 1, problem } = inner.attempt?.view ?? {};
    const takesSchema = backend.takesSchema === true;
    const asked = {
      request: { ...request, ...(phase !== undefined && { phase }) },
      prompt: promptFor(textOf(sent), request.schema, { takesSchema, problem }),
      model,
      definition,
      taken,
      attempt,
    };
    const ask = async (directory: string): Promise<Value> => answerOf(await backend.ask(inner, { ...asked, directory }), fitting);
    if (request.isolation !== 'worktree') return ask(run.settings.projectRoot);
    return inWorktree(inner, { name: `${digitsOf(taken.key)}-${taken.number}`, owner: ports.owner }, ask);
  };
  try {
    const { value, json, isReused } = await call.perform(operation, execute);
    if (request.isolation === 'worktree' && isReused) {
      const { key } = await call.sample([request.prompt, request.asked as Data]);
      await warnIfGone(frame, await ports.keptWorktreeOf(key), nameOf(request, run.secrets));
    }
    countTokens(ports, value, json); // AGENT-1
    return { value: json };
  } catch (error) {
    return failureOf(ports, request, { error, secrets: run.secrets });
  }
}

function backendFor(ports: AgentPorts, written: string): AgentBackend {
  try {
    return ports.backendOf(written);
  } catch (error) {
    throw refusedAgent((error as Error).message);
  }
}

async function schemaOf(schema: Json): Promise<ResultSchema> {
  const { $schema: _, ...rules } = schema as { readonly [name: string]: Json };
  try {
    return await compileSchema(rules);
  } catch (error) {
    throw refusedAgent(`the schema can't be used: ${(error as Error).message}`);
  }
}

interface CallContext {
  readonly schema: ResultSchema | undefined;
  readonly backend: AgentBackend;
  readonly model: string | undefined;
}

function callOptions({ retries = RETRIES, timeoutMs }: AgentRequest, { schema, backend, model }: CallContext): CallOptions {
  return withoutUndefined<CallOptions>({
    schema,
    retries: { 'rate-limit': retries, overloaded: retries, network: retries, timeout: 0, 'bad-reply': schema ? SCHEMA_RETRIES : 0 },
    timeoutMs,
    lane: backend.program === undefined ? undefined : programLane(backend.program, model),
    model,
    maxCost: backend.name === SIMULATED ? { usd: 0, tokens: 0 } : undefined,
  });
}

/** The label's part before the colon: `look` of `look:north`. */
export function labelsOf(label: string | undefined): readonly string[] {
  const name = label?.split(':')[0]?.trim() ?? '';
  return /^[\p{L}_][\p{L}\p{N}_-]*$/u.test(name) && name !== 'llm' ? [name] : [];
}

/** workflows-js.md 6.3. @param definition the text of the agent's type, if there is one */
export function definitionOfAgent(
  { name }: Pick<AgentBackend, 'name'>,
  model: string | undefined,
  { agentType, effort }: Pick<AgentRequest, 'agentType' | 'effort'>,
  definition: string | undefined,
): Definition {
  return definitionOfTexts([
    ['variable', 'model', model ?? 'the default'],
    ['variable', 'effort', effort ?? 'the default'],
    ['variable', 'backend', name],
    ...(agentType === undefined ? [] : [['variable', `agent ${agentType}`, definition ?? 'not defined'] as const]),
  ]);
}

/** The label, else the beginning of the prompt. */
function nameOf({ prompt, label }: AgentRequest, secrets: SecretRegistry): string {
  return secrets.redact(label ?? shortened(secrets.redact(prompt).split('\n')[0] ?? '', NAME_UNITS));
}

/** An error that ends the run is thrown on. */
function failureOf(
  { totals }: AgentPorts,
  request: AgentRequest,
  { error, secrets }: { readonly error: unknown; readonly secrets: SecretRegistry },
): AgentFailure {
  if (error instanceof RequestRefused) throw error;
  const facts = callFailureOf(error);
  const isDenied = error instanceof Denial;
  if (!facts && !isDenied) throw error;
  const reason = facts ? facts.message : `denied: ${(error as Error).message}`;
  totals.failed.push({ name: nameOf(request, secrets), reason: secrets.redact(reason) });
  const failure = { failed: reason, class: facts?.class ?? 'denied' } as const;
  if (!request.schema || facts?.class !== 'bad-reply') return failure;
  return { ...failure, unfit: `the agent's answer never fitted the schema, in ${facts.attempts} attempts: ${facts.message}` };
}
