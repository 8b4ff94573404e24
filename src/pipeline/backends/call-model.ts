/**
 * Calls the model of a stage. The call is an operation like the llm calls of scripts, so its result is recorded and reused, and hooks,
 * guards and the audit see it. graph-pipelines.md 7.3.
 */
import { NO_CALL_OPTIONS } from '../../calls/options.js';
import { sha256 } from '../../../journal/canonical.js';
import type { DefinitionPart, Json } from '../../../journal/event.js';
import type { Fingerprint, OpPath } from '../../../journal/ids.js';
import { siteOf } from '../../runtime/position.js';
import type { LlmCall } from '../../runtime/calls/llm-call.js';
import { valueIn } from '../../runtime/completion.js';
import { perform } from '../../operation/perform.js';
import { concealed } from '../../runtime/secrets/secret-registry.js';
import { toJson } from '../../values/native.js';
import { shortened } from '../../values/shortened.js';
import { textOf } from '../../values/text.js';
import type { Value } from '../../values/value.js';
import type { Backend, ModelReply } from '../stage/backend.js';
import { backendFor } from './select-backend.js';
import { toolCaller } from './tool-calls.js';
import type { Stage } from '../stage/stage.js';
import { graphAttribute, modelSettingsOf, nodeAttribute } from '../model/graph.js';
import type { StageOutcome } from '../model/outcome.js';
import { renderPreamble, renderTranscript, type PreambleSource } from '../stage/preamble.js';
import { statusReport } from '../stage/status-file.js';
import type { Conversation } from '../stage/threads.js';

/** The text before the prompt. `forKey` is the same text without the parts that differ between two runs of one walk. */
interface CarryOver {
  readonly text: string;
  readonly forKey: string;
  /** True for a rendered preamble, which is also written to `preamble.md`; false for the turns of a conversation. */
  readonly isPreamble: boolean;
}

export async function callModel(stage: Stage, prompt: string): Promise<ModelReply> {
  const { thread } = stage.promptHistory;
  if (thread === undefined) return performModelCall(stage, prompt, carryOver(stage));
  return stage.run.threads.exclusive(thread, async (add) => {
    const result = await performModelCall(stage, prompt, carryOver(stage));
    add({ prompt, reply: result.reply });
    return result;
  });
}

async function performModelCall(stage: Stage, prompt: string, carried: CarryOver): Promise<ModelReply> {
  if (carried.isPreamble) stage.folder.write('preamble.md', carried.text);
  const backend = backendOf(stage);
  const text = carried.text === '' ? prompt : `${carried.text}\n\n${prompt}`;
  const { frame, node, run } = stage;
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
      llm: llmCall(stage, { fn, prompt, carried, text, backend }),
    },
    async (inner, [sent]) => {
      const reply = await backend.execute(stage, inner, { text: textOf(sent), callTool: toolCaller(stage, inner) });
      // A reply is kept in clear: in the journal, in files and in the text that later stages are sent.
      return encodeReply(concealed(reply, run.secretSettings));
    },
  );
  return replyIn(valueIn(result));
}

function backendOf({ run, node }: Stage): Backend {
  const written = run.backend ?? (nodeAttribute(node, 'backend') || graphAttribute(run.pipeline.graph, 'backend'));
  if (written) return backendFor(written, run.backends);
  run.warnOnce('no backend is configured, so model stages are simulated: name one with --backend or the attribute backend');
  return backendFor('simulated');
}

function carryOver({ run, promptHistory, walks }: Stage): CarryOver {
  const { state } = run.ledger;
  const { mode } = promptHistory.fidelity;
  const source: PreambleSource = { goal: run.pipeline.goal, runId: state.runId ?? '', walks, summaries: state.summaries };
  if (mode === 'full') {
    const spoken = run.threads.conversation(promptHistory.thread ?? '');
    if (spoken) {
      const transcript = renderTranscript(spoken.turns);
      return conversation(
        spoken.omittedTurns === 0 ? transcript : `${renderPreamble('compact', source)}\n\n${omissionNotice(spoken)}\n\n${transcript}`,
      );
    }
    // `isLost` and not the state, where this node's own start has put its thread by now.
    if (!run.threads.isLost(promptHistory.thread ?? '')) return conversation('');
  }
  const rendered = mode === 'full' ? 'compact' : mode;
  return { text: renderPreamble(rendered, source), forKey: renderPreamble(rendered, { ...source, runId: '' }), isPreamble: true };
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
  readonly backend: Backend;
}

function llmCall(stage: Stage, { fn, prompt, carried, text, backend }: ModelCall): LlmCall {
  const { run, node, branch, visit, attempt, nodeOp } = stage;
  const settings = modelSettingsOf(run.pipeline.graph, node);
  const { model = null, provider = null, effort } = settings;
  const place = branch === undefined ? null : `${branch.of}[${branch.index}]`;
  const definition: readonly DefinitionPart[] = [
    part('body', fn, nodeAttribute(node, 'prompt') ?? ''),
    part('variable', 'backend', backend.name),
    part('variable', 'model', [model, provider, effort].join(' ')),
  ];
  return {
    async request([sent]) {
      const current = textOf(sent);
      // A before-hook that replaced the text has made it another call.
      const words: { [member: string]: Json } = current === text ? { prompt, carryOver: carried.forKey } : { prompt: current };
      const args = [{ branch: place, visit, attempt, ...words, model, provider, effort }];
      const recordedAs = run.ledger.state.received.get(`${nodeOp}/try#${attempt}/model#0` as OpPath)?.reply;
      return { request: { fn, args }, ...(recordedAs === undefined ? {} : { recordedAs }) };
    },
    definition: async () => ({
      fingerprint: sha256(definition.map(({ kind, name, digest }) => `${kind} ${name} ${digest}`).join('\n')) as string as Fingerprint,
      parts: definition,
    }),
    fn,
    options: () => (model === null ? NO_CALL_OPTIONS : { model }),
    isCommand: false,
    labels: ['llm'],
    sources: [],
  };
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
