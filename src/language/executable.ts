/** A function that a script declares. Control section 3. */
import type { Code, Exe, Expression, Pipeline, Reference, When } from '../../grammar/ast.js';
import { Callable } from '../values/callable.js';
import type { Module } from './frame.js';

export class Executable extends Callable {
  readonly name: string;
  readonly params: readonly string[];
  readonly labels: readonly string[];
  /** What depends on the whole definition and is worked out once: see `fingerprint.ts`. */
  readonly derived = new Map<string, unknown>();

  constructor(
    readonly node: Exe,
    readonly module: Module,
  ) {
    super();
    this.name = node.name;
    this.params = node.params.map((param) => param.name);
    this.labels = node.labels;
  }

  get body(): Expression {
    return this.node.body;
  }

  get isRecursive(): boolean {
    return this.labels.includes('recursive');
  }

  /** The code that the body is, below a pipeline or `stream` as well. */
  get code(): Code | undefined {
    return codeOf(this.body);
  }

  /** The one call that the body consists of: what it forwards belongs to the question (checkpoint section 6.3). */
  get forwarded(): Reference | undefined {
    const { body } = this;
    if (body.kind !== 'reference') return undefined;
    const calls = body.steps.filter((step) => step.kind === 'apply' || step.kind === 'method').length;
    const last = body.steps.at(-1);
    return calls === 1 && (last?.kind === 'apply' || last?.kind === 'method') ? body : undefined;
  }

  /** The body when it has a branch for refusals. */
  get deniedBody(): When | undefined {
    const { body } = this;
    if (body.kind !== 'when') return undefined;
    const handles = body.entries.some(
      (entry) => entry.kind === 'arm' && typeof entry.condition !== 'string' && mentionsDenied(entry.condition),
    );
    return handles ? body : undefined;
  }
}

function codeOf(body: Expression): Code | undefined {
  switch (body.kind) {
    case 'code':
      return body;
    case 'stream':
    case 'with':
      return codeOf(body.value);
    case 'pipeline':
      return codeOf((body satisfies Pipeline).source);
    default:
      return undefined;
  }
}

function mentionsDenied(node: Expression): boolean {
  switch (node.kind) {
    case 'denied':
      return true;
    case 'unary':
      return mentionsDenied(node.operand);
    case 'binary':
      return mentionsDenied(node.left) || mentionsDenied(node.right);
    default:
      return false;
  }
}
