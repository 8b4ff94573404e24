/**
 * Puts a question to the model of a stage: an llm operation like those of scripts, so that it is remembered, hooked, guarded and audited.
 * graph-pipelines.md 7.3.
 */
import { sha256 } from '../../../journal/canonical.js';
import type { DefinitionPart, Json } from '../../../journal/event.js';
import type { Fingerprint, OpPath } from '../../../journal/ids.js';
import { siteOf } from '../../runtime/position.js';
import type { LlmCall } from '../../runtime/llm-call.js';
import { valueIn } from '../../runtime/completion.js';
import { perform } from '../../operation/perform.js';
import { concealed } from '../../runtime/secret-registry.js';
import { toJson } from '../../values/native.js';
import { shortened } from '../../values/shortened.js';
import { textOf } from '../../values/text.js';
import type { Value } from '../../values/value.js';
import { backendFor, type ModelReply, type Backend } from './select-backend.js';
import { toolCaller } from './tool-calls.js';
import type { Stage } from '../handlers/handler.js';
import { graphAttribute, modelSettingsOf, nodeAttribute } from '../model/graph.js';
import type { StageOutcome } from '../model/outcome.js';
import { renderPreamble, renderTranscript, type PreambleSource } from '../stage/preamble.js';
import { statusReport } from '../stage/status-file.js';
import type { Conversation } from '../stage/threads.js';

/** What stands before the prompt. `forKey` is the same without what differs between two runs of one walk. */
interface CarryOver {
  readonly text: string;
  readonly forKey: string;
  /** A text of ours, not a conversation: it is a file of its own. */
  readonly isPreamble: boolean;
}

export async function callModel(stage: Stage, prompt: string): Promise<ModelReply> {
  const { thread } = stage.promptHistory;
  if (thread === undefined) return performModelCall(stage, prompt, carryOver(stage));
  return stage.run.threads.exclusive(thread, async (add) => {
    const answered = await performModelCall(stage, prompt, carryOver(stage));
    add({ prompt, reply: answered.reply });
    return answered;
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
      const answered = await backend.execute(stage, inner, { text: textOf(sent), callTool: toolCaller(stage, inner) });
      // A reply is kept in clear, in the journal, in files and in what later stages are told.
      return encodeReply(concealed(answered, run.secretSettings));
    },
  );
  return replyIn(valueIn(result));
}

function backendOf({ run, node }: Stage): Backend {
  const written = run.backend ?? (nodeAttribute(node, 'backend') || graphAttribute(run.pipeline.graph, 'backend'));
  if (written) return backendFor(written, run.backends);
  run.warnOnce('no backend is configured: model stages are simulated (--backend, or the attribute backend, names one)');
  return backendFor('simulated');
}

function carryOver({ run, promptHistory, walks }: Stage): CarryOver {
  const { state } = run.ledger;
  const { mode } = promptHistory.fidelity;
  const past: PreambleSource = { goal: run.pipeline.goal, runId: state.runId ?? '', walks, summaries: state.summaries };
  if (mode === 'full') {
    const said = run.threads.conversation(promptHistory.thread ?? '');
    if (said) {
      const transcript = renderTranscript(said.turns);
      return conversation(said.omittedTurns === 0 ? transcript : `${renderPreamble('compact', past)}\n\n${leftOut(said)}\n\n${transcript}`);
    }
    // The node's own start is recorded by now: a thread that was spoken in before this process is more than that.
    if (!run.threads.isLost(promptHistory.thread ?? '')) return conversation('');
  }
  const told = mode === 'full' ? 'compact' : mode;
  return { text: renderPreamble(told, past), forKey: renderPreamble(told, { ...past, runId: '' }), isPreamble: true };
}

function leftOut({ omittedTurns: count }: Conversation): string {
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
      const asked = textOf(sent);
      // What a before-hook replaced is another question.
      const words: { [member: string]: Json } = asked === text ? { prompt, carryOver: carried.forKey } : { prompt: asked };
      const args = [{ branch: place, visit, attempt, ...words, model, provider, effort }];
      const answeredAs = run.ledger.state.received.get(`${nodeOp}/try#${attempt}/model#0` as OpPath)?.reply;
      return { request: { fn, args }, ...(answeredAs === undefined ? {} : { recordedAs: answeredAs }) };
    },
    definition: async () => ({
      fingerprint: sha256(definition.map(({ kind, name, digest }) => `${kind} ${name} ${digest}`).join('\n')) as string as Fingerprint,
      parts: definition,
    }),
    isCommand: false,
    labels: ['llm'],
    sources: [],
  };
}

const PREVIEW_UNITS = 80;

function part(kind: DefinitionPart['kind'], name: string, text: string): DefinitionPart {
  return { kind, name, digest: sha256(text), preview: shortened(text, PREVIEW_UNITS) };
}

/** A plain reply is its text; one with a report is the report with the reply beside it. */
function encodeReply({ reply, outcome }: ModelReply): Value {
  if (!outcome) return reply;
  const { status, carried: _, ...report } = outcome;
  return { outcome: status, ...report, reply } as unknown as Value;
}

/** What was answered, of the value that the journal has of it. */
export function replyIn(value: Value): ModelReply {
  const json = toJson(value);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return { reply: textOf(value) };
  const { reply } = json as { readonly reply?: Json };
  const outcome: StageOutcome = statusReport(json);
  return { reply: typeof reply === 'string' ? reply : '', outcome };
}
