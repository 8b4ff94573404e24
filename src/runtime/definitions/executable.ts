/** A function that a script declares. control.md 3. */
import type { Code, Exe, Expression, Pipeline, Reference, Template, When } from '../../../grammar/ast.js';
import { Callable } from '../../values/kinds/callable.js';
import type { CallOptions } from '../../calls/options.js';
import type { ResultSchema } from '../../calls/schema/compile-schema.js';
import type { DerivedCache } from './definition.js';
import type { Module } from '../module.js';

export interface LoadedTemplate {
  readonly template: Template;
  /** The path as the script has it: unlike the file's display it does not depend on where the program was started. */
  readonly written: string;
  /** The file: its own references resolve from its folder. */
  readonly module: Module;
}

export class Executable extends Callable {
  readonly name: string;
  readonly params: readonly string[];
  readonly labels: readonly string[];
  readonly body: Expression;
  /** The code that the body consists of, also inside a pipeline or `stream`. */
  readonly code: Code | undefined;
  /** Marks the results as made by this kind of body. instrumentation.md 3.2. */
  readonly sources: readonly string[];
  /** The one call that the body consists of: the arguments that it forwards are part of the call key (checkpoint-resume.md 6.3). */
  readonly forwarded: Reference | undefined;
  /** The body, when it has a `denied` branch. */
  readonly deniedBody: When | undefined;
  /** Replaces the arguments in the call key. */
  readonly keyOption: Expression | undefined;
  readonly writesOption: Expression | undefined;
  readonly schemaOption: Expression | undefined;
  /** Set when the function is declared, if its option `schema` is the same for all calls. calls.md 8.1. */
  schema: ResultSchema | undefined;
  /** The schema of the last call, where calls may have different ones. `text` is its canonical JSON. */
  lastSchema: { readonly text: string; readonly schema: ResultSchema } | undefined;
  /** Set by the first call, if the options are the same for all calls. */
  callOptions: CallOptions | undefined;
  /** Set when the function is declared, if its body is a template file. world.md 13. */
  template: LoadedTemplate | undefined;
  /** Set when a run has warned that a parameter is taken from the caller. */
  isWarnedOf = false;
  readonly derived: DerivedCache = { shape: undefined, definition: undefined };

  constructor(
    readonly node: Exe,
    readonly module: Module,
  ) {
    super();
    this.name = node.name;
    this.params = node.params.map((param) => param.name);
    this.labels = node.labels;
    this.body = node.body;
    this.code = codeOf(node.body);
    this.sources = [this.code ? `src:${this.code.language}` : isTemplate(node.body) ? 'src:template' : 'src:exe'];
    this.forwarded = forwardedBy(node.body);
    this.deniedBody = handlesDenials(node.body) ? node.body : undefined;
    const option = (wanted: string): Expression | undefined => node.options.find(({ name }) => name === wanted)?.value;
    this.keyOption = option('key');
    this.writesOption = option('writes');
    this.schemaOption = option('schema');
  }

  get isRecursive(): boolean {
    return this.labels.includes('recursive');
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

/** A quoted text is a template without references. */
function isTemplate(body: Expression): boolean {
  if (body.kind === 'with') return isTemplate(body.value);
  return body.kind === 'template' || body.kind === 'template-file' || (body.kind === 'literal' && typeof body.value === 'string');
}

function forwardedBy(body: Expression): Reference | undefined {
  if (body.kind !== 'reference') return undefined;
  const calls = body.steps.filter((step) => step.kind === 'apply' || step.kind === 'method').length;
  const last = body.steps.at(-1);
  return calls === 1 && (last?.kind === 'apply' || last?.kind === 'method') ? body : undefined;
}

function handlesDenials(body: Expression): body is When {
  return (
    body.kind === 'when' &&
    body.entries.some((entry) => entry.kind === 'arm' && typeof entry.condition !== 'string' && mentionsDenied(entry.condition))
  );
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
