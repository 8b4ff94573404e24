/**
 * Makes one agent call: an operation like the llm calls of scripts, so that hooks, guards, cache and journal see it.
 * workflows-js.md 6 and 9.
 *
 * AGENT-1  The call has its path before anything is awaited: ordinals follow the order in which a branch calls.
 * AGENT-2  A result counts for budget and clock with what it had cost when it was executed, reused or not. A failure counts for neither: it
 *          is asked again, and a prompt with the time in it behind it must be found again.
 * AGENT-3  Nothing that is written down says more of a question with a secret in it than a keyed digest does.
 */
import { sha256 } from '../../../journal/canonical.js';
import type { DefinitionPart, Json } from '../../../journal/event.js';
import { SECRET_QUESTION, type CallKey, type Fingerprint, type OpPath } from '../../../journal/ids.js';
import { programLane } from '../../calls/lanes/program-lane.js';
import type { FailureClass } from '../../calls/failure.js';
import type { CallOptions } from '../../calls/options.js';
import { compileSchema, type ResultSchema } from '../../calls/schema/compile-schema.js';
import { perform } from '../../operation/perform.js';
import { callFailureOf } from '../../runtime/calls/call-failure.js';
import { callKey } from '../../runtime/calls/call-key.js';
import type { LlmCall } from '../../runtime/calls/llm-call.js';
import { valueIn } from '../../runtime/completion.js';
import { Denial } from '../../runtime/denial.js';
import { siteOf } from '../../runtime/position.js';
import { isSecret, type SecretRegistry } from '../../runtime/secrets/secret-registry.js';
import { toJson } from '../../values/native.js';
import { shortened } from '../../values/shortened.js';
import { textOf } from '../../values/text.js';
import { metadataOf, type Data, type Value } from '../../values/value.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import type { AgentBackend } from '../backends/backend.js';
import { RequestRefused, type AgentRequest } from './agent-options.js';
import { answerOf, promptFor } from './answers.js';
import type { Branch } from './branch.js';
import type { AgentPorts, TakenSample } from './ports.js';
import { replayedResult } from './replayed-result.js';
import { inWorktree } from './worktree.js';

const FN = 'agent';
const SCHEMA_RETRIES = 4;
const RETRIES = 3;
const QUESTION_DIGITS = 8;
const PREVIEW_UNITS = 80;
const NAME_UNITS = 60;

export interface AgentFailure {
  readonly failed: string;
  readonly class: FailureClass | 'denied';
  /** No answer fitted the schema: the message for a script, which sees an error. */
  readonly unfit?: string;
}

export type AgentResult = { readonly value: Json } | AgentFailure;

/** @param scriptDirectory relative paths of backends begin there. Throws RequestRefused for what the script has to see as an error. */
export function askAgent(ports: AgentPorts, branch: Branch, request: AgentRequest, scriptDirectory: string): Promise<AgentResult> {
  const { frame } = branch;
  const { run } = frame;
  const backend = request.backend === undefined ? ports.backend : backendFor(ports, request.backend);
  const model = request.model ?? ports.model;
  const keyOf = (number: number, args: readonly Json[]): CallKey => callKey({ fn: FN, args, ...(number > 1 && { attempt: number }) });
  const args: readonly Json[] = [request.prompt, request.asked];
  const question = digitsOf(keyOf(1, args));
  const segment = `${FN}~${run.secrets.contains(args) ? SECRET_QUESTION : question}`; // AGENT-3
  const ordinal = branch.nextOrdinal(segment); // AGENT-1
  const op = `${frame.op.path}/${segment}#${ordinal}` as OpPath;
  const phase = request.phase ?? branch.phase;
  const records = run.cache.policy().records || run.cache.policy().reuses;
  if (!records) refuseWithoutBudget(ports);
  const site = (): string => siteOf(frame.module, 0);
  let schema: ResultSchema | undefined;
  let sample: TakenSample | undefined;
  let definition: string | undefined;
  let sampling: Promise<TakenSample> | undefined;
  const sampleFor = async (inputs: readonly Value[]): Promise<TakenSample> => {
    const asked = inputs.map((input) => toJson(input));
    const hasSecret = inputs.some(isSecret) || run.secrets.contains(asked);
    sampling ??= ports.take({ op, question, hasSecret, keyOf: (number) => keyOf(number, asked) });
    return (sample = await sampling);
  };
  const llm: LlmCall = {
    fn: FN,
    isCommand: false,
    labels: [],
    sources: [],
    async request(inputs) {
      schema = request.schema && (await schemaOf(request.schema));
      if (request.agentType !== undefined) definition = await ports.definitionOf(request.agentType);
      const asked = inputs.map((input) => toJson(input));
      const taken = await sampleFor(inputs);
      if (!taken.isRecorded) refuseWithoutBudget(ports);
      return { request: { fn: FN, args: asked, ...(taken.number > 1 && { attempt: taken.number }) } };
    },
    definition: () => definitionOf(backend, model, request, definition),
    mentionsProblem: () => true, // `promptFor` says it in the words of the dialect
    async options() {
      schema ??= request.schema && (await schemaOf(request.schema));
      return callOptions(request, { schema, backend, model });
    },
  };
  const startedMs = run.monotonicMs();
  const performing = perform(
    frame,
    {
      kind: FN,
      segment,
      ordinal,
      name: request.label ?? null,
      ...(phase !== undefined && { group: phase }),
      labels: ['llm', ...labelsOf(request.label)],
      inputs: [request.prompt, request.asked as Data],
      call: { declared: FN, called: [FN], params: ['prompt', 'options'], site, declaredAt: site, repeatable: false },
      llm,
    },
    async (inner, [sent]) => {
      if (run.replayed) return replayedResult(inner);
      const taken = await sampleFor([sent ?? null, request.asked as Data]);
      const attempt = inner.attempt?.view.try ?? 1;
      const directory = run.settings.projectRoot;
      const ask = async (folder: string): Promise<Value> =>
        answerOf(
          await backend.ask(inner, {
            request: { ...request, ...(phase !== undefined && { phase }) },
            prompt: promptFor(textOf(sent), request.schema, {
              takesSchema: backend.takesSchema === true,
              problem: inner.attempt?.view.problem,
            }),
            model,
            effort: request.effort,
            definition,
            key: taken.key,
            sample: taken.number,
            attempt,
            directory: folder,
            scriptDirectory,
            warn: (topic, message) => {
              if (run.calls?.isFirst(`${topic} ${backend.name}`)) run.warn(message);
            },
          }),
          schema,
        );
      return request.isolation === 'worktree'
        ? inWorktree(inner, { name: `${digitsOf(taken.key)}-${taken.number}`, owner: ports.owner }, ask)
        : ask(directory);
    },
  );
  return performing.then(
    (outcome) => {
      const value = valueIn(outcome);
      branch.took((sample && ports.elapsedOf(sample.key)) ?? run.monotonicMs() - startedMs);
      const json = toJson(value);
      if (isSecret(value)) run.secrets.add(json as Data); // of a large one that is reused nothing is known yet
      count(ports, value, json);
      return { value: json };
    },
    (error: unknown) => failureOf(ports, request, { error, secrets: run.secrets }),
  );
}

/** The first digits of a key, without the name of the digest. */
function digitsOf(key: CallKey): string {
  return key.slice(key.indexOf(':') + 1).slice(0, QUESTION_DIGITS);
}

function backendFor(ports: AgentPorts, written: string): AgentBackend {
  try {
    return ports.backendOf(written);
  } catch (error) {
    throw new RequestRefused('TypeError', `agent(prompt, options?): ${(error as Error).message}`);
  }
}

function refuseWithoutBudget({ totalTokens, totals }: AgentPorts): void {
  if (totalTokens !== null && totals.spentTokens >= totalTokens)
    throw new RequestRefused('Error', `the budget of ${totalTokens} output tokens is spent: ${totals.spentTokens} are used`);
}

async function schemaOf(schema: Json): Promise<ResultSchema> {
  const { $schema: _, ...rules } = schema as { readonly [name: string]: Json };
  try {
    return await compileSchema(rules);
  } catch (error) {
    throw new RequestRefused('TypeError', `agent(prompt, options?): the schema can't be used: ${(error as Error).message}`);
  }
}

function callOptions(
  { retries = RETRIES, timeoutMs }: AgentRequest,
  {
    schema,
    backend,
    model,
  }: { readonly schema: ResultSchema | undefined; readonly backend: AgentBackend; readonly model: string | undefined },
): CallOptions {
  return withoutUndefined<CallOptions>({
    schema,
    retries: { 'rate-limit': retries, overloaded: retries, network: retries, timeout: 0, 'bad-reply': schema ? SCHEMA_RETRIES : 0 },
    timeoutMs,
    lane: backend.program === undefined ? undefined : programLane(backend.program, model),
    model,
  });
}

/** The label's part before the colon: `look` of `look:north`. */
function labelsOf(label: string | undefined): readonly string[] {
  const name = label?.split(':')[0]?.trim() ?? '';
  return /^[\p{L}_][\p{L}\p{N}_-]*$/u.test(name) && name !== 'llm' ? [name] : [];
}

/** workflows-js.md 6.3 */
function definitionOf(
  backend: AgentBackend,
  model: string | undefined,
  { agentType, effort }: AgentRequest,
  definition: string | undefined,
): { readonly fingerprint: Fingerprint; readonly parts: readonly DefinitionPart[] } {
  const part = (name: string, text: string): DefinitionPart => ({
    kind: 'variable',
    name,
    digest: sha256(text),
    preview: shortened(text, PREVIEW_UNITS),
  });
  const parts = [
    part('model', model ?? 'the default'),
    part('effort', effort ?? 'the default'),
    part('backend', backend.name),
    ...(agentType === undefined ? [] : [part(`agent ${agentType}`, definition ?? 'not defined')]),
  ];
  const digest = sha256(parts.map(({ name, digest: each }) => `${name} ${each}`).join('\n')) as string;
  return { fingerprint: digest as Fingerprint, parts };
}

/** AGENT-2. A reply whose length nobody told is counted with a quarter of its characters. */
function count({ totals }: AgentPorts, value: Value, json: Json): void {
  const outputTokens = metadataOf(value)?.measured?.()?.usage?.['outputTokens'];
  if (typeof outputTokens === 'number') {
    totals.spentTokens += outputTokens;
    return;
  }
  totals.isEstimated = true;
  totals.spentTokens += Math.ceil((typeof json === 'string' ? json : JSON.stringify(json)).length / 4);
}

/** An error that ends the run is thrown on. */
function failureOf(
  { totals }: AgentPorts,
  { prompt, label, schema }: AgentRequest,
  { error, secrets }: { readonly error: unknown; readonly secrets: SecretRegistry },
): AgentFailure {
  if (error instanceof RequestRefused) throw error;
  const facts = callFailureOf(error);
  const isDenied = error instanceof Denial;
  if (!facts && !isDenied) throw error;
  const reason = facts ? facts.message : `denied: ${(error as Error).message}`;
  const name = label ?? shortened(secrets.redact(prompt).split('\n')[0] ?? '', NAME_UNITS);
  totals.failed.push({ name: secrets.redact(name), reason: secrets.redact(reason) });
  const failure = { failed: reason, class: facts?.class ?? 'denied' } as const;
  if (!schema || facts?.class !== 'bad-reply') return failure;
  return { ...failure, unfit: `the agent's answer never fitted the schema, in ${facts.attempts} attempts: ${facts.message}` };
}
