/** Evaluates `var llm @x = …`: a call or command that is the whole right side may be reused. checkpoint-resume.md 4. */
import { NO_CALL_OPTIONS } from '../../calls/options.js';
import type { Code, Expression, Var } from '../../../grammar/ast.js';
import { sha256 } from '../../../journal/canonical.js';
import type { Fingerprint } from '../../../journal/ids.js';
import type { LlmCall } from '../../runtime/calls/llm-call.js';
import type { Definition } from '../../runtime/definitions/definition.js';
import { valueIn } from '../../runtime/completion.js';
import { partsOfCode, withParts } from '../../operation/fingerprint.js';
import { perform } from '../../operation/perform.js';
import { isSecret } from '../../runtime/secrets/secret-registry.js';
import type { Value } from '../../values/value.js';
import { evaluateCode } from '../calls/code.js';
import { commandLineOf } from '../calls/command-line.js';
import { bound } from './control-flow.js';
import { runStages } from '../../runtime/evaluator-ports.js';
import type { Frame } from '../../runtime/frame.js';
import { evaluateCall } from '../expressions/reference.js';
import { evaluateWith } from '../calls/with-options.js';

export async function evaluateVarLlm(node: Var, frame: Frame): Promise<Value> {
  return evaluateCallAtHead(node.value, node.labels, frame);
}

async function evaluateCallAtHead(node: Expression, labels: readonly string[], frame: Frame): Promise<Value> {
  switch (node.kind) {
    case 'reference':
      return evaluateCall(node, frame, { labels });
    case 'code':
      return labelledCode(node, labels, frame);
    case 'pipeline':
      return runStages(await evaluateCallAtHead(node.source, labels, frame), node.stages, frame);
    case 'stream':
      return evaluateCallAtHead(node.value, labels, { ...frame, streaming: true });
    case 'with': {
      const stdin = node.options.find(({ name }) => name === 'stdin')?.value;
      if (node.value.kind === 'code') return labelledCode(stdin ? { ...node.value, stdin } : node.value, labels, frame);
      if (node.value.kind === 'reference') return evaluateWith(node, frame, labels);
      return bound(node, frame);
    }
    default:
      return bound(node, frame);
  }
}

/** Runs code as a call that is identified by its language and its text after interpolation. */
async function labelledCode(node: Code, labels: readonly string[], frame: Frame): Promise<Value> {
  const line = node.language === 'cmd' ? await commandLineOf(node, frame) : undefined;
  const [part] = node.text;
  const text = line?.text ?? (part?.kind === 'text' ? part.text : '');
  const attempt = frame.context.attempt > 1 ? { attempt: frame.context.attempt } : {};
  const definition = `${node.language} ${text}`;
  const llm: LlmCall = {
    request: async () => ({ request: { fn: node.language, args: [text], ...attempt } }),
    async definition() {
      const isHidden = frame.secret === true || line?.used.some(isSecret);
      const digest = isHidden ? await frame.run.cache.digest(definition) : sha256(definition);
      const fingerprint = (isHidden ? sha256(digest) : digest) as string as Fingerprint;
      const own: Definition = { fingerprint, parts: [{ kind: 'body', name: node.language, digest }] };
      const { module, run, stack } = frame;
      const code = { code: [node], module, params: stack?.executable.params ?? [] };
      const given = await partsOfCode(code, [], run.cache.digest, run.secrets);
      return given.length === 0 ? own : withParts(own, given);
    },
    fn: node.language,
    language: node.language,
    options: () => NO_CALL_OPTIONS,
    isCommand: true,
    labels,
    sources: [`src:${node.language}`],
  };
  const operation = { kind: 'code', segment: node.language, name: null, labels, inputs: line?.used ?? [], llm };
  return valueIn(await perform(frame, operation, async (inner) => evaluateCode(node, inner, line)));
}
