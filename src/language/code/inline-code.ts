/**
 * Code and commands outside of the body of a function. Those of a `run` statement are its operation; in an expression, or as a stage, they
 * are none, but guards look at them in the same way. instrumentation.md 2 and 4.2.
 */
import type { Code, Expression } from '../../../grammar/ast.js';
import { guarded, guardsOf } from '../../operation/guards/guarded.js';
import { valueIn } from '../../runtime/completion.js';
import { lenient } from '../../runtime/evaluator-ports.js';
import type { Frame, JudgedCode } from '../../runtime/frame.js';
import type { GuardTrail } from '../../runtime/guard-trail.js';
import type { Operation } from '../../runtime/operation.js';
import { Scope } from '../../runtime/scope.js';
import { textOf } from '../../values/text.js';
import { annotate, flow, type Value } from '../../values/value.js';
import { evaluateCode } from './code.js';
import { resolveDirectory } from '../paths.js';
import { commandLineOf } from './command-line.js';

/** Shows guards what the code uses, and makes the frame in which it runs with the inputs that they allow. */
export interface PreparedCode {
  readonly subtype: string;
  /** The text of a `cmd`; of other code the values of its list of variables. */
  readonly inputs: readonly Value[];
  /** The labelled values in the path of its working directory. */
  readonly path: readonly Value[];
  readonly evaluated: JudgedCode;
  readonly allowed: (frame: Frame, inputs: readonly Value[]) => Frame;
}

/**
 * Evaluates command line, working directory and standard input once, before the operation, so that hooks and guards see them. `known` has
 * them where they are evaluated already.
 */
export async function prepareCode(node: Code, frame: Frame, known?: JudgedCode): Promise<PreparedCode> {
  const { language, text, variables = [] } = node;
  const stdin = known ? known.stdin : node.stdin && { value: await lenient(node.stdin, frame) };
  const folder = known ? known.folder : node.directory && (await resolveDirectory(node.directory, frame));
  const path = folder?.labelled ?? [];
  const evaluated = { text, ...(folder && { folder }), ...(stdin && { stdin }) };
  if (language !== 'cmd') {
    const listed = variables.map((name) => frame.scope.find(name)?.value);
    const allowed = (inner: Frame, now: readonly Value[]): Frame => ({
      ...inner,
      judged: { ...evaluated, ...(stdin && { stdin: { value: now[listed.length] } }) },
      scope: replacing(variables, listed, now, inner.scope),
    });
    return { subtype: language, inputs: stdin ? [...listed, stdin.value] : listed, path, evaluated, allowed };
  }
  const line = known?.line ?? (await commandLineOf(node, frame));
  const inputs = [flow(annotate(line.text.trim(), {}), stdin ? [...line.used, stdin.value] : line.used)];
  return {
    subtype: language,
    inputs,
    path,
    evaluated: { ...evaluated, line },
    // A guard may have replaced the command.
    allowed: (inner, [command]) => {
      const allowedLine = command === inputs[0] ? line : ({ text: textOf(command), used: [command], isReplaced: true } as const);
      return { ...inner, judged: { ...evaluated, line: allowedLine } };
    },
  };
}

function replacing(names: readonly string[], before: readonly Value[], now: readonly Value[], outer: Scope): Scope {
  if (before.every((value, i) => value === now[i])) return outer;
  const scope = new Scope('block', outer);
  names.forEach((name, i) => scope.define({ name, value: now[i], kind: 'ambient' }));
  return scope;
}

/** Runs code in an expression or a stage, between the guards that look at `run` statements. */
export function evaluateInlineCode(node: Code, frame: Frame): Promise<Value> {
  const { judged, bodyCode, run } = frame;
  if (judged?.text === node.text) return evaluateCode(node, frame, judged.line);
  if (!run.interceptors.active || (bodyCode?.kind === 'code' && bodyCode.text === node.text)) return evaluateCode(node, frame);
  return evaluateGuarded(node, frame);
}

/** Runs code between the guards that look at `run` statements. `known` is what is evaluated of it already, `trail` that of its call. */
export async function evaluateGuarded(node: Code, frame: Frame, known?: JudgedCode, trail?: GuardTrail): Promise<Value> {
  const { subtype, inputs, path, allowed } = await prepareCode(node, frame, known);
  const operation: Operation = {
    kind: 'run',
    segment: 'run',
    name: null,
    labels: [],
    subtype,
    inputs,
    path,
    ...(trail && { trail }),
    ...(frame.guards && { guards: frame.guards }),
  };
  const guards = guardsOf(frame, operation);
  if (!guards) return evaluateInlineCode(node, allowed(frame, inputs));
  return valueIn(await guarded(guards, frame, operation, async (inner, now) => evaluateInlineCode(node, allowed(inner, now))));
}

/** Returns the code that an operand of `run` is, or begins with. */
export function codeIn(node: Expression): Code | undefined {
  switch (node.kind) {
    case 'code':
      return node;
    case 'with':
    case 'stream':
      return codeIn(node.value);
    case 'pipeline':
      return codeIn(node.source);
    default:
      return undefined;
  }
}
