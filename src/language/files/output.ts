/** Executes `output` and `append`, to files, streams, the environment and the state. world.md 14.2 and 14.3. */
import type { AppendFile, Expression, Output, Target } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { resolveTarget, type ResolvedPath } from '../paths.js';
import { performEffect } from '../../operation/perform-effect.js';
import { perform } from '../../operation/perform.js';
import { isDataObject, putEntry } from '../../values/plain-object.js';
import { annotate, asElement, dataOf, flow, labelsOf, type DataObject, type Value } from '../../values/value.js';
import { textOf } from '../../values/text.js';
import type { Completion } from '../../runtime/completion.js';
import { renderText } from '../../runtime/evaluator-ports.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import { effectInput, type EffectInput } from '../expressions/effect-input.js';
import { writeText } from './write-text.js';
import { fileText, formatted, recordLine, writtenText } from './written-text.js';

export async function executeOutput(node: Output, frame: Frame): Promise<Completion> {
  const input = node.value ? await effectInput(node.value, frame) : { value: frame.run.document.text() };
  await outputTo(node.target, input, { format: node.format, source: node.value }, frame);
  return undefined;
}

export async function executeAppend(node: AppendFile, frame: Frame): Promise<Completion> {
  await appendTo(node.target, await effectInput(node.value, frame), node.format, frame);
  return undefined;
}

/** Writes a piped value: `| output to "…"`, `| append "…"`. */
export async function writeTarget(
  effect: 'output' | 'append',
  input: EffectInput,
  target: Target,
  format: string | undefined,
  frame: Frame,
): Promise<void> {
  await (effect === 'output' ? outputTo(target, input, { format }, frame) : appendTo(target, input, format, frame));
}

interface OutputDetails {
  readonly format?: string | undefined;
  /** Is the expression of the value, whose name becomes the variable of `to env`. */
  readonly source?: Expression | undefined;
}

async function outputTo(target: Target, effect: EffectInput, { format, source }: OutputDetails, frame: Frame): Promise<Value> {
  const place = await resolvePlace(target, frame);
  const operation = outputOperation('output', effect, targetName(target, place), place?.labelled);
  return perform(frame, operation, async (inner, [input]) => {
    await emit(target, place, input, format, environmentName(target, source), inner);
    return input;
  });
}

async function appendTo(target: Target, effect: EffectInput, format: string | undefined, frame: Frame): Promise<Value> {
  const place = await resolvePlace(target, frame);
  const operation = outputOperation('append', effect, targetName(target, place), place?.labelled);
  return perform(frame, operation, async (inner, [input]) => {
    const file = appendPlace(target, place, format, inner);
    const text = file.absolute.toLowerCase().endsWith('.jsonl') ? `${recordLine(input)}\n` : withLineEnd(writtenText(input));
    await writeText('file.append', { ...file, at: target.at }, text, input, inner);
    return input;
  });
}

export function outputOperation(kind: 'output' | 'append', { value, pieces }: EffectInput, target: string, path: readonly Value[] = []) {
  return { kind, segment: kind, name: null, labels: [], inputs: [value], target, path, ...(pieces && { pieces }) };
}

type Place = ResolvedPath | { readonly state: string; readonly labelled: readonly Value[] } | undefined;

async function resolvePlace(target: Target, frame: Frame): Promise<Place> {
  if (target.kind === 'file') return resolveTarget(target.path, frame, target.at);
  if (target.kind !== 'state') return undefined;
  const name = await renderText(target.path, frame);
  const state = textOf(name);
  if (state === '')
    throw new MlldError('EMPTY_PATH', 'The state path is empty', {
      location: locationOf(frame.module, target.at),
      hint: 'write state://NAME',
    });
  return { state, labelled: labelsOf(name).length > 0 ? [name] : [] };
}

function targetName(target: Target, place: Place): string {
  if (place && 'state' in place) return `state://${place.state}`;
  if (place) return place.name;
  return target.kind === 'env' && target.name !== undefined ? `env:${target.name}` : target.kind;
}

async function emit(target: Target, place: Place, value: Value, format: string | undefined, variable: string, frame: Frame): Promise<void> {
  if (place && 'state' in place) return writeState(place.state, value, frame);
  if (place) return writeText('file.write', { ...place, at: target.at }, await fileText(value, format), value, frame);
  const text = await formatted(value, format);
  if (target.kind === 'stdout' || target.kind === 'stderr') return frame.run.document.write(target.kind, `${text}\n`, value, frame);
  await performEffect(frame, 'env.set', { name: variable, value: text }, { values: [value] });
}

/** Returns the written name, else `MLLD_` and the name of the script's variable, else `MLLD_OUTPUT`. */
function environmentName(target: Target, source: Expression | undefined): string {
  if (target.kind === 'env' && target.name !== undefined) return target.name;
  const isVariable = source?.kind === 'reference' && source.steps.every((step) => step.kind === 'field' || step.kind === 'index');
  return isVariable ? `MLLD_${source.name.toUpperCase()}` : 'MLLD_OUTPUT';
}

async function writeState(statePath: string, value: Value, frame: Frame): Promise<void> {
  const { ms } = await performEffect(frame, 'clock.now', {});
  const { run } = frame;
  run.stateWrites.push({ path: statePath, value, ms });
  if (!run.settings.hasState) return;
  const changed = withMember(dataOf(run.state), statePath.split('.'), asElement(value));
  run.state = flow(annotate(changed, {}), [run.state, value]);
}

function withMember(base: Value, [name, ...deeper]: readonly string[], value: Value): DataObject {
  const object: Record<string, Value> = {};
  if (isDataObject(base)) for (const [key, entry] of Object.entries(base)) putEntry(object, key, entry);
  if (name !== undefined) putEntry(object, name, deeper.length === 0 ? value : withMember(dataOf(object[name]), deeper, value));
  return object;
}

function appendPlace(target: Target, place: Place, format: string | undefined, frame: Frame): ResolvedPath {
  const refuse = (code: string, message: string, hint: string): MlldError =>
    new MlldError(code, message, { location: locationOf(frame.module, target.at), hint });
  if (!place || 'state' in place)
    throw refuse('APPEND_TARGET', `append writes to files, not to ${target.kind}`, `write output … to ${target.kind}`);
  const lower = place.absolute.toLowerCase();
  if (lower.endsWith('.json')) {
    throw refuse(
      'APPEND_JSON',
      `Nothing can be appended to ${place.written}: a .json file holds one value`,
      'use a .jsonl file, which holds one value per line',
    );
  }
  if (format === 'jsonl' && !lower.endsWith('.jsonl')) {
    throw refuse(
      'APPEND_FORMAT',
      `\`as jsonl\` needs a .jsonl file, and ${place.written} is not one`,
      'change the ending of the file to .jsonl, or leave the format out',
    );
  }
  if (format !== undefined && format !== 'jsonl' && format !== 'text') {
    throw refuse('APPEND_FORMAT', `append does not know the format ${format}`, 'the formats are text and jsonl');
  }
  return place;
}

function withLineEnd(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
