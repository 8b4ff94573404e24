/**
 * Calls the model of a stage. The call is an operation like the llm calls of scripts, so its result is recorded and reused, and hooks,
 * guards and the audit see it. graph-pipelines.md 7.3.
 */
import { programLane } from '../../calls/lanes/program-lane.js';
import type { CallOptions } from '../../calls/options.js';
import { sha256 } from '../../../journal/canonical.js';
import type { DefinitionPart, Json } from '../../../journal/event.js';
import type { OpPath } from '../../../journal/ids.js';
import { SIMULATED } from '../../../journal/facts/simulated-backend.js';
import { siteOf } from '../../runtime/position.js';
import type { Frame } from '../../runtime/frame.js';
import type { LlmCall } from '../../runtime/calls/llm-call.js';
import { valueIn } from '../../runtime/completion.js';
import { fingerprintOf } from '../../operation/fingerprint.js';
import { perform } from '../../operation/perform.js';
import { concealed } from '../../runtime/secrets/secret-registry.js';
import { toJson } from '../../values/native.js';
import { shortened } from '../../values/shortened.js';
import { textOf } from '../../values/text.js';
import type { Value } from '../../values/value.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import type { ModelReply, ModelRequest, OwnBackend } from '../stage/backend.js';
import { executeAttempt } from './execute-attempt.js';
import { backendFor, backendKind, writtenBackend } from './select-backend.js';
import { toolCaller } from './tool-calls.js';
import type { Stage } from '../stage/stage.js';
import { modelSettingsOf, nodeAttribute, toolsOf } from '../model/graph.js';
import type { StageOutcome } from '../model/outcome.js';
import { retriesOfNode } from '../model/retry-policy.js';
import { outcomeContract } from '../stage/outcome-contract.js';
import { branchAround } from '../stage/place-in-walk.js';
import { renderPreamble, renderTranscript, type PreambleSource } from '../stage/preamble.js';
import { statusReport } from '../stage/status-file.js';
import type { Conversation } from '../stage/threads.js';

/** The text before the prompt. `forKey` is the same text without the parts that differ between two runs of one walk. */
interface CarryOver {
  readonly text: string;
  readonly forKey: string;
  /** True for a rendered preamble, which is also written to `preamble.md`; false for the turns of a conversation. */
  readonly isPreamble: boolean;
  /** The conversation that the backend keeps itself. */
  readonly session?: string;
}

interface StageCall {
  readonly backend: OwnBackend;
  readonly prompt: string;
  readonly carried: CarryOver;
  /** Sent behind the prompt; not a part of the key. */
  readonly contract: string | undefined;
}

/** @param takesOutcome the reply may end with the outcome of the stage, and the model is told so where the backend can read it */
export async function callModel(
  stage: Stage,
  prompt: string,
  { takesOutcome = false }: { readonly takesOutcome?: boolean } = {},
): Promise<ModelReply> {
  const { promptHistory, run, node } = stage;
  const { thread, leaves } = promptHistory;
  const backend = backendOf(stage);
  const contract = takesOutcome && backend.readsOutcome ? outcomeContract(run.pipeline, node.id) : undefined;
  const call = (): Promise<ModelReply> => performModelCall(stage, { backend, prompt, carried: carryOver(stage, backend), contract });
  if (leaves !== undefined) run.threads.lose(leaves);
  if (thread === undefined) return call();
  await run.turns.next(thread, stage.frame.op.path, stage.signal);
  return run.threads.exclusive(thread, async (add) => {
    const result = await call();
    const { reply, session } = result;
    add({ prompt, reply, ...(session === undefined ? {} : { kept: { by: backend.name, session } }) });
    return result;
  });
}

async function performModelCall(stage: Stage, { backend, prompt, carried, contract }: StageCall): Promise<ModelReply> {
  if (carried.isPreamble) stage.folder.write('preamble.md', carried.text);
  const text = carried.text === '' ? prompt : `${carried.text}\n\n${prompt}`;
  const { node, run } = stage;
  const frame = withStageBudget(stage);
  const { session } = carried;
  // Unknown where a recorded reply is reused: the program may have another conversation by now, or none.
  let repliedIn: string | undefined;
  const fn = `${run.pipeline.graph.name}.${node.id}`;
  const site = (): string => siteOf(frame.module, node.at);
  const result = await perform(
    frame,
    {
      kind: 'model',
      segment: 'model',
      name: fn,
      labels: ['llm'],
      inputs: [text],
      call: { declared: fn, called: [fn], params: ['prompt'], site, declaredAt: site, repeatable: false },
      llm: llmCall(stage, { fn, prompt, carried, text, backend, contract, frame }),
    },
    async (inner, [sent]) => {
      const request: ModelRequest = {
        text: textOf(sent),
        callTool: toolCaller(stage, inner),
        ...(contract === undefined ? {} : { contract }),
        ...(session === undefined ? {} : { session }),
      };
      const reply = await executeAttempt(stage, inner, backend, request, run.backends.has(backendKind(backend.name)));
      repliedIn = reply.session;
      // A reply is kept in clear: in the journal, in files and in the text that later stages are sent.
      return encodeReply(concealed(reply, run.secretSettings));
    },
  );
  stage.answered();
  const reply = replyIn(valueIn(result));
  return repliedIn === undefined ? reply : { ...reply, session: repliedIn };
}

/** The call of a stage with a retry budget has one attempt for each attempt of the stage. calls.md 17. */
function withStageBudget({ frame, run, node }: Stage): Frame {
  const { calls } = frame.run;
  if (!calls || !retriesOfNode(run.pipeline.graph, node).isSet) return frame;
  const { settings } = calls;
  return { ...frame, run: { ...frame.run, calls: { ...calls, settings: { ...settings, forced: { ...settings.forced, retries: 0 } } } } };
}

function backendOf({ run, node }: Stage): OwnBackend {
  const written = writtenBackend(run.backend, run.pipeline.graph, node);
  if (written) return backendFor(written, run.backends);
  run.warnOnce('no backend is configured, so model stages are simulated: name one with --backend or the attribute backend');
  return backendFor(SIMULATED);
}

function carryOver({ run, promptHistory, walks }: Stage, backend: OwnBackend): CarryOver {
  const { state } = run.ledger;
  const { mode } = promptHistory.fidelity;
  const source: PreambleSource = { goal: run.pipeline.goal, runId: state.runId ?? '', walks };
  if (mode === 'full') {
    const spoken = run.threads.conversation(promptHistory.thread ?? '');
    if (spoken) {
      const transcript = renderTranscript(spoken.turns);
      const whole = conversation(
        spoken.omittedTurns === 0 ? transcript : `${renderPreamble('compact', source)}\n\n${omissionNotice(spoken)}\n\n${transcript}`,
      );
      const kept = spoken.turns.at(-1)?.kept;
      const isKept = kept !== undefined && backend.keepsConversations && kept.by === backend.name;
      // The key has the conversation as it was, because the name of a session says nothing about it.
      return isKept ? { ...whole, text: '', session: kept.session } : whole;
    }
    // `isLost` and not the state, where this node's own start has put its thread by now.
    if (!run.threads.isLost(promptHistory.thread ?? '')) return conversation('');
  }
  const rendered = mode === 'full' ? 'compact' : mode;
  return { text: renderPreamble(rendered, source), forKey: renderPreamble(rendered, { ...source, isForKey: true }), isPreamble: true };
}

function omissionNotice({ omittedTurns: count }: Conversation): string {
  return `(The ${count === 1 ? 'first turn' : `first ${count} turns`} of this conversation ${count === 1 ? 'is' : 'are'} left out.)`;
}

function conversation(text: string): CarryOver {
  return { text, forKey: text, isPreamble: false };
}

interface ModelCall {
  readonly fn: string;
  readonly prompt: string;
  readonly carried: CarryOver;
  readonly text: string;
  readonly backend: OwnBackend;
  readonly contract: string | undefined;
  readonly frame: Frame;
}

function llmCall(stage: Stage, { fn, prompt, carried, text, backend, contract, frame }: ModelCall): LlmCall {
  const { run, node, branch, visit, attempt, answeredBefore, nodeOp } = stage;
  const settings = modelSettingsOf(run.pipeline.graph, node);
  const { model = null, provider = null, effort } = settings;
  const tools = toolsOf(run.pipeline.graph, node);
  const place = branch === undefined ? null : branchAround(nodeOp);
  const { restarts, within } = run.ledger.state;
  // Nothing is added in a first walk, so that its keys are those of older programs.
  const walk = { ...(restarts > 0 && { restarts }), ...(within !== undefined && { within }) };
  const definition: readonly DefinitionPart[] = [
    part('body', fn, nodeAttribute(node, 'prompt') ?? ''),
    ...settingParts(backend, settings),
    ...(contract === undefined ? [] : [part('variable', 'contract', contract)]),
    ...(tools.length === 0 ? [] : [part('variable', 'tools', tools.join(', '))]), // none: as in records of older programs
  ];
  const lane = backend.commandLine === undefined ? undefined : programLane(backend.commandLine, settings.model);
  const maxCost = backend.name === SIMULATED ? { usd: 0, tokens: 0 } : undefined;
  const options = withoutUndefined<CallOptions>({ model: settings.model, lane, maxCost });
  return {
    async request([sent]) {
      const current = textOf(sent);
      // A before-hook that replaced the text has made it another call.
      const words: { [member: string]: Json } = current === text ? { prompt, carryOver: carried.forKey } : { prompt: current };
      // An attempt that failed left no result, so that a later run finds the one that came of the next attempt at its first.
      const args = [{ ...walk, branch: place, visit, attempt: answeredBefore + 1, ...words, model, provider, effort }];
      const recordedAs = run.ledger.state.received.get(`${nodeOp}/try#${attempt}/model#0` as OpPath)?.reply;
      return { request: { fn, args }, ...(recordedAs === undefined ? {} : { recordedAs }) };
    },
    loadsGuards: backend.complete !== undefined,
    async definition(_inputs, op) {
      const own = { fingerprint: fingerprintOf(definition), parts: definition };
      return backend.complete ? backend.complete(own, stage, { ...frame, op }) : own;
    },
    fn,
    options: () => options,
    isCommand: false,
    labels: ['llm'],
    sources: [],
  };
}

/** The parts of the definition of a stage that say who replies. */
export function settingParts({ name }: Pick<OwnBackend, 'name'>, settings: ReturnType<typeof modelSettingsOf>): readonly DefinitionPart[] {
  const { model = null, provider = null, effort } = settings;
  return [part('variable', 'backend', name), part('variable', 'model', [model, provider, effort].join(' '))];
}

const PREVIEW_UNITS = 80;

function part(kind: DefinitionPart['kind'], name: string, text: string): DefinitionPart {
  return { kind, name, digest: sha256(text), preview: shortened(text, PREVIEW_UNITS) };
}

/** Encodes a plain reply as its text, and a reply with an outcome as the outcome with the member `reply`. */
function encodeReply({ reply, outcome }: ModelReply): Value {
  if (!outcome) return reply;
  const { status, carried: _, ...report } = outcome;
  return { outcome: status, ...report, reply } as unknown as Value;
}

/** Decodes a recorded reply. */
export function replyIn(value: Value): ModelReply {
  const json = toJson(value);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return { reply: textOf(value) };
  const { reply } = json as { readonly reply?: Json };
  const outcome: StageOutcome = statusReport(json);
  return { reply: typeof reply === 'string' ? reply : '', outcome };
}
