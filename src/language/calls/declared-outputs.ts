/** Resolves the files that a call declares: `exe llm @draw(name) = … with { writes: ["out/@name.svg"] }`. */
import path from 'node:path';
import type { Expression } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { renderPath, writeDirectory } from '../paths.js';
import { textOf } from '../../values/text.js';
import { dataOf, type Value } from '../../values/value.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';

/** Returns absolute paths in the declared order. `frame` is that of the function, so its parameters are in scope. Throws BAD_WRITES. */
export async function writtenPaths(option: Expression, frame: Frame): Promise<readonly string[]> {
  const directory = writeDirectory(frame);
  const nodes = option.kind === 'array' ? option.elements.map(({ value }) => value) : [option];
  const paths: string[] = [];
  for (const node of nodes)
    for (const value of await pathsOf(node, frame)) paths.push(path.resolve(directory, pathText(value, option, frame)));
  return paths;
}

/** Resolves a path in quotes by the rules of paths; any other value may be one path or a list of them. */
async function pathsOf(node: Expression, frame: Frame): Promise<readonly Value[]> {
  if (node.kind === 'template') return [await renderPath(node.parts, frame)];
  const data = dataOf(await frame.evaluate(node, frame));
  return Array.isArray(data) ? data : [data];
}

function pathText(value: Value, option: Expression, frame: Frame): string {
  const text = typeof dataOf(value) === 'string' ? textOf(value).trim() : '';
  if (text !== '') return text;
  throw new MlldError('BAD_WRITES', 'writes takes the path of a file, or a list of paths', {
    location: locationOf(frame.module, option.at),
    hint: 'exe llm @draw(name) = … with { writes: ["out/@name\\.svg"] }',
  });
}
