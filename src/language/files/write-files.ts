/** Executes `file` and `files`, which write below the folder of the script; each file is an operation `output`. world.md 14.5. */
import path from 'node:path';
import type { TemplatePart, WriteFile, WriteFiles } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { renderPath, resolveTarget, type ResolvedPath } from '../paths.js';
import { isDataObject } from '../../values/plain-object.js';
import { dataOf, flow, type Value } from '../../values/value.js';
import type { Completion } from '../../runtime/completion.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import { effectInput, type EffectInput } from '../expressions/effect-input.js';
import { perform } from '../../operation/perform.js';
import { outputOperation } from './output.js';
import { writeText } from './write-text.js';
import { writtenText } from './written-text.js';

/** Executes `file "docs/a.md" = V`. */
export async function executeFile(node: WriteFile, frame: Frame): Promise<Completion> {
  const input = await effectInput(node.value, frame);
  await write({ ...(await placeBelow(node.path, frame, node.at)), at: node.at }, input, frame);
  return undefined;
}

/** Executes `files "src/" = [ { "a.js": V, desc: "…" } ]`. */
export async function executeFiles(node: WriteFiles, frame: Frame): Promise<Completion> {
  const value = await frame.evaluate(node.value, frame);
  const list = dataOf(value);
  const wrong = (found: string): MlldError =>
    new MlldError('BAD_FILES', `files takes a list of objects with one file name each: ${found}`, {
      location: locationOf(frame.module, node.at),
      hint: 'files "src/" = [ { "a.js": @text, desc: "a remark" } ]',
    });
  if (!Array.isArray(list)) throw wrong('the value is not a list');
  const folder = await placeBelow(node.path, frame, node.at);
  for (const element of list as readonly Value[]) {
    const entry = dataOf(element);
    if (!isDataObject(entry)) throw wrong('an element is not an object');
    const names = Object.keys(entry).filter((name) => name !== 'desc');
    const [name] = names;
    if (name === undefined || names.length > 1)
      throw wrong(names.length === 0 ? 'an element names no file' : `${names.join(' and ')} are in one object`);
    refuseEscape(name, frame, node.at);
    const content = flow(entry[name] ?? null, [value]);
    const { labelled } = folder;
    const place = { written: path.join(folder.written, name), absolute: path.resolve(folder.absolute, name), labelled, at: node.at };
    await write(place, { value: content }, frame);
  }
  return undefined;
}

async function write(
  place: Pick<ResolvedPath, 'absolute' | 'written' | 'labelled'> & { readonly at: number },
  input: EffectInput,
  frame: Frame,
) {
  await perform(frame, outputOperation('output', input, place.written, place.labelled), async (inner, [allowed]) => {
    await writeText('file.write', place, writtenText(allowed), allowed, inner);
    return allowed;
  });
}

async function placeBelow(parts: readonly TemplatePart[], frame: Frame, at: number): Promise<ResolvedPath> {
  refuseEscape(await renderPath(parts, frame), frame, at);
  return resolveTarget(parts, frame, at);
}

/** Throws PATH_NOT_BELOW for a path that is absolute or leads out of the folder of the script. */
function refuseEscape(written: string, frame: Frame, at: number): void {
  const refuse = (what: string): MlldError =>
    new MlldError('PATH_NOT_BELOW', `${written} ${what}`, {
      location: locationOf(frame.module, at),
      hint: 'file and files take paths relative to the script and below it; output takes any path',
    });
  if (path.isAbsolute(written)) throw refuse('is absolute, but the path must be relative');
  if (written.split(/[/\\]/).includes('..')) throw refuse('leads out of the folder with `..`');
}
