/** Evaluates `var llm @x = …`: a call or command that is the whole right side may be reused. checkpoint-resume.md 4. */
import { NO_CALL_OPTIONS } from '../../calls/options.js';
import type { Code, Expression, Var } from '../../../grammar/ast.js';
import { sha256 } from '../../../journal/canonical.js';
import type { Fingerprint } from '../../../journal/ids.js';
import type { LlmCall } from '../../runtime/calls/llm-call.js';
import type { Body } from '../../runtime/ports.js';
import type { Definition } from '../../runtime/definitions/definition.js';
import { addReach, createReach } from '../../runtime/definitions/reachable-operations.js';
import { valueIn } from '../../runtime/completion.js';
import { partsOfCode, withParts } from '../../operation/fingerprint.js';
import { perform } from '../../operation/perform.js';
import { isSecret } from '../../runtime/secrets/secret-registry.js';
import type { Value } from '../../values/value.js';
import { evaluateCode } from '../code/code.js';
import { codeInputs, sourceOf } from '../code/code-inputs.js';
import { evaluateGuarded, prepareCode } from '../code/inline-code.js';
import { bound } from './control-flow.js';
import { runStages } from '../../runtime/evaluator-ports.js';
import type { Frame } from '../../runtime/frame.js';
import { GuardTrail } from '../../runtime/guard-trail.js';
import { evaluateCall } from '../expressions/reference.js';
import { withApplied } from '../calls/with-options.js';

/** Expressions that are a call or a command, or begin with one. */
const HEADS: readonly Expression['kind'][] = ['reference', 'code', 'pipeline', 'stream'];

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
      if (!HEADS.includes(node.value.kind)) return bound(node, frame);
      const { value, frame: applied } = await withApplied(node, frame);
      return evaluateCallAtHead(value, labels, applied);
    }
    default:
      return bound(node, frame);
  }
}

/**
 * Runs code as a call that is identified by its language, its text after interpolation, and what it gets beside its text. Its standard
 * input and its folder are evaluated before the lookup, once.
 */
async function labelledCode(node: Code, labels: readonly string[], frame: Frame): Promise<Value> {
  const { evaluated, path } = await prepareCode(node, frame);
  const { line } = evaluated;
  const inputs = codeInputs(node, frame, evaluated);
  const text = line?.text ?? sourceOf(node);
  const attempt = frame.context.attempt > 1 ? { attempt: frame.context.attempt } : {};
  const definition = `${node.language} ${text}`;
  const llm: LlmCall = {
    request(values) {
      const part = inputs.keyPart(values);
      const args = part === undefined ? [text] : [text, part];
      return { request: { fn: node.language, args, ...attempt }, hasSecret: path.some(isSecret) };
    },
    async definition() {
      const isHidden = frame.secret === true || line?.used.some(isSecret);
      const digest = isHidden ? await frame.run.cache.digest(definition) : sha256(definition);
      const fingerprint = (isHidden ? sha256(digest) : digest) as string as Fingerprint;
      const reach = createReach();
      addReach(reach, node);
      const own: Definition = { fingerprint, parts: [{ kind: 'body', name: node.language, digest }], reach };
      const { module, run, stack } = frame;
      // The values of its variables are in the key.
      const { variables: params = stack?.executable.params ?? [], ...code } = node;
      const given = await partsOfCode({ code: [code], module, params }, [], run.cache.digest, run.secrets);
      return given.length === 0 ? own : withParts(own, given);
    },
    fn: node.language,
    language: node.language,
    options: () => NO_CALL_OPTIONS,
    isCommand: true,
    labels,
    sources: [`src:${node.language}`],
  };
  const trail = new GuardTrail();
  const operation = { kind: 'code', segment: node.language, name: null, labels, inputs: inputs.values, path, llm, trail };
  const run: Body = async (inner, values) => {
    const { node: code, frame: applied } = inputs.withValues(values, inner);
    if (!frame.run.interceptors.active) return evaluateCode(code, applied, line);
    // The text of a command has its values in it already: a guard that replaced one has to look at the text as well.
    const isInText = line && values.some((value, i) => value !== inputs.values[i]);
    return evaluateGuarded(code, applied, applied.judged, isInText ? undefined : trail);
  };
  return valueIn(await perform(frame, operation, run));
}
