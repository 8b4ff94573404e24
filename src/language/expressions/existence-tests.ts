/** `@exists` and `@fileExists`, which need the written argument and not only its value. values.md 12, world.md 5.5. */
import type { Expression } from '../../../grammar/ast.js';
import { performEffect } from '../../operation/perform-effect.js';
import { resolveText } from '../paths.js';
import { textOf } from '../../values/text.js';
import { dataOf, type Value } from '../../values/value.js';
import { lenient } from '../../runtime/evaluator-ports.js';
import type { Frame } from '../../runtime/frame.js';
import { findFiles } from '../files/load.js';

type Test = (args: readonly Expression[], frame: Frame) => Promise<Value>;

const tests: { readonly [name: string]: Test } = { exists, EXISTS: exists, fileExists, FILEEXISTS: fileExists };

/** Returns the test of this name, unless the script has declared a function of the name. */
export function existenceTest(name: string, frame: Frame): Test | undefined {
  return Object.hasOwn(tests, name) && !frame.scope.find(name) ? tests[name] : undefined;
}

/** Looks for files where the argument is a text or a load; for a reference, it checks that the name, field or index exists. */
async function exists([node]: readonly Expression[], frame: Frame): Promise<Value> {
  if (!node) return false;
  if (node.kind === 'load') return (await findFiles(node, frame)).length > 0;
  if (node.kind === 'reference') return isThere(node, frame);
  return fileExists([node], frame);
}

async function isThere(node: Expression & { kind: 'reference' }, frame: Frame): Promise<boolean> {
  const last = node.steps.at(-1);
  if (!last || (last.kind !== 'field' && last.kind !== 'index')) return (await lenient(node, frame)) !== undefined;
  const holder = dataOf(await lenient({ ...node, steps: node.steps.slice(0, -1) }, frame));
  if (typeof holder !== 'object' || holder === null) return false;
  const key = last.kind === 'field' ? last.name : textOf(await frame.evaluate(last.index, frame));
  return Array.isArray(holder) ? Number(key) >= 0 && Number(key) < holder.length : Object.hasOwn(holder, key);
}

async function fileExists([node]: readonly Expression[], frame: Frame): Promise<Value> {
  if (!node) return false;
  if (node.kind === 'load') return (await findFiles(node, frame)).length > 0;
  const value = await lenient(node, frame);
  return value !== undefined && isFile(value, frame);
}

/** Returns the test that is a stage under this name: it looks for the file whose path is piped in. */
export function existenceStage(name: string, frame: Frame): typeof isFile | undefined {
  return (name === 'fileExists' || name === 'FILEEXISTS') && !frame.scope.find(name) ? isFile : undefined;
}

async function isFile(value: Value, frame: Frame): Promise<boolean> {
  if (dataOf(value) === null) return false;
  const { kind } = await performEffect(frame, 'file.stat', { path: resolveText(textOf(value), frame) });
  return kind === 'file';
}
