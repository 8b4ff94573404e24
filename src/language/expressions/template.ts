/** Renders text with references in it. values.md 5 to 7. */
import type { HolePart, LoopPart, Template, TemplatePart } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { textOf } from '../../values/text.js';
import { isTruthy } from '../../values/truth.js';
import { Callable } from '../../values/kinds/callable.js';
import type { CollectedFailures } from '../../values/failures.js';
import { annotate, Annotated, dataOf, labelsOf, union, NO_LABELS, type FailedCall, type Value } from '../../values/value.js';
import { boundValue, callValue, lenient, runStages } from '../../runtime/evaluator-ports.js';
import { entriesOf } from '../../values/entries.js';
import type { Frame } from '../../runtime/frame.js';
import type { TextPiece } from '../../runtime/operation.js';
import { renderLoadPart } from '../files/load.js';
import { Scope } from '../../runtime/scope.js';

/** Returns text, whatever the template holds. */
export async function evaluateTemplate(node: Template, frame: Frame): Promise<Value> {
  return renderParts(node.parts, frame);
}

/** Returns the reference of a template that is exactly one: bound to a name, such a template is the referenced value. values.md 5.3. */
export function soleReference(node: Template): HolePart['value'] | undefined {
  const [part] = node.parts;
  if (node.parts.length !== 1 || part?.kind !== 'hole' || part.pipes.length > 0) return undefined;
  return part.negated || part.optional || part.then || part.fallback !== undefined ? undefined : part.value;
}

/** Returns the text, with the labels of all values in it. */
export async function renderParts(parts: readonly TemplatePart[], frame: Frame): Promise<Value> {
  const output = new LabelledText(frame.run.failures);
  await render(parts, frame, output);
  return output.value();
}

/** Returns the text with what it was put together of: fixed text, and the values with labels. */
export async function renderPieces(
  parts: readonly TemplatePart[],
  frame: Frame,
): Promise<{ readonly value: Value; readonly pieces: readonly TextPiece[] }> {
  const output = new TextOfPieces(frame.run.failures);
  await render(parts, frame, output);
  return { value: output.value(), pieces: output.pieces };
}

/** Collects text, the labels of the values in it, and the failed calls in these. */
class LabelledText {
  private text = '';
  private labels = NO_LABELS;
  private sources = NO_LABELS;
  private readonly failed = new Set<FailedCall>();

  constructor(private readonly failures: CollectedFailures) {}

  write(text: string): void {
    this.text += text;
  }

  writeValue(value: Value): void {
    this.text += textOf(value);
    this.addLabels(value);
    if (!this.failures.isEmpty) for (const call of this.failures.in([value])) this.failed.add(call);
  }

  addLabels(value: Value): void {
    if (!(value instanceof Annotated)) return;
    this.labels = union(this.labels, value.metadata.labels);
    this.sources = union(this.sources, value.metadata.sources);
  }

  value(): Value {
    const { labels, sources, failed } = this;
    return annotate(this.text, failed.size === 0 ? { labels, sources } : { labels, sources, failures: [...failed] });
  }
}

class TextOfPieces extends LabelledText {
  readonly pieces: TextPiece[] = [];

  override write(text: string): void {
    super.write(text);
    this.pieces.push(text);
  }

  override writeValue(value: Value): void {
    super.writeValue(value);
    this.pieces.push(labelsOf(value).length > 0 ? { value } : textOf(value));
  }
}

async function render(parts: readonly TemplatePart[], frame: Frame, output: LabelledText): Promise<void> {
  for (const part of parts) {
    switch (part.kind) {
      case 'text':
        output.write(part.text);
        break;
      case 'hole': {
        const value = isBare(part) ? boundValue(part.value, frame) : undefined;
        if (value === undefined || dataOf(value) instanceof Callable) await renderHole(part, frame, output);
        else output.writeValue(value);
        break;
      }
      case 'load-part':
        output.writeValue(await renderLoadPart(part, frame));
        break;
      case 'loop-part':
        await renderLoop(part, frame, output);
        break;
      case 'file-text':
        throw new Error('a file placeholder outside an `as` clause');
    }
  }
}

/** Returns true for a hole that is a reference alone, without pipes, negation or default. */
function isBare({ negated, then, optional, fallback, pipes }: HolePart): boolean {
  return !negated && !then && !optional && fallback === undefined && pipes.length === 0;
}

async function renderHole(part: HolePart, frame: Frame, output: LabelledText): Promise<void> {
  const value = await holeValue(part, frame);
  if (part.negated) return output.write(String(!isTruthy(value)));
  if (part.then) {
    if (isTruthy(value)) await render(part.then, frame, output);
    return;
  }
  if (part.optional && !isTruthy(value)) return;
  if (part.fallback !== undefined && (value === undefined || dataOf(value) === null)) return output.write(part.fallback);
  if (value === undefined) return output.write(part.written);
  const stages = await functionPipes(part.pipes, frame);
  output.writeValue(stages.length > 0 ? await runStages(value, stages, frame) : value);
  for (const { at, name, path } of part.pipes.slice(stages.length)) {
    const steps = path.map((field) => ({ kind: 'field' as const, name: field, at }));
    const written = ['@' + name, ...path].join('.');
    output.write('|');
    await renderHole({ kind: 'hole', at, value: { kind: 'reference', at, name, steps }, pipes: [], written }, frame, output);
  }
}

/** Returns the pipes that are functions. Where `@b` is not a function, `@a|@b` is two values and the bar is text. */
async function functionPipes(pipes: HolePart['pipes'], frame: Frame): Promise<HolePart['pipes']> {
  for (const [i, { at, name, path }] of pipes.entries()) {
    if (!frame.scope.find(name)) continue;
    const steps = path.map((field) => ({ kind: 'field' as const, name: field, at }));
    const value = await lenient({ kind: 'reference', at, name, steps }, frame);
    if (!(dataOf(value) instanceof Callable)) return pipes.slice(0, i);
  }
  return pipes;
}

/** Returns the value of a hole; undefined for a name that is not defined. A function without parentheses is called. */
export async function holeValue(part: HolePart, frame: Frame): Promise<Value> {
  const value = await lenient(part.value, frame).catch(nullIfNotExported);
  const data = dataOf(value);
  return data instanceof Callable ? callValue(data, [], frame, { at: part.at, called: [part.value.name] }) : value;
}

/** In text, a name that a module does not export is null. world.md 11.2. */
function nullIfNotExported(error: unknown): null {
  if (error instanceof MlldError && error.code === 'NOT_EXPORTED') return null;
  throw error;
}

/** Renders `/for`; a source that is neither a list nor an object renders nothing. */
async function renderLoop(part: LoopPart, frame: Frame, output: LabelledText): Promise<void> {
  const source = await lenient(part.source, frame);
  output.addLabels(source);
  for (const { key, value, index } of entriesOf(source) ?? []) {
    const scope = new Scope('block', frame.scope);
    const isList = index !== undefined;
    scope.define({ name: part.name, value, kind: 'loop', key, ...(isList ? { index } : {}) });
    if (part.key !== undefined) scope.define({ name: part.key, value: isList ? index : key, kind: 'loop' });
    else if (!isList) scope.define({ name: `${part.name}_key`, value: key, kind: 'loop' });
    await render(part.body, { ...frame, scope }, output);
  }
}
