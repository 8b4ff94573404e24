/** Imports the inputs of a run: `@input`, `@payload`, `@state`, injected modules. world.md 16. */
import type { Frame } from '../runtime/frame.js';
import { readInput } from '../language/expressions/standard-input.js';
import { performEffect } from '../operation/perform-effect.js';
import { isDataObject } from '../values/plain-object.js';
import { Annotated, dataOf, flow, type Value } from '../values/value.js';
import type { Namespace } from '../values/kinds/namespace.js';
import { moduleOfText } from './load-module.js';

const ENVIRONMENT = { names: ['NODE_ENV', 'DEBUG', 'CI', 'HOME', 'USER', 'PATH'], prefixes: ['MLLD_'] };

/** Returns undefined for a name that is not an input of the run. In a source that `isData`, a missing name is null and not an error. */
export async function providedModule(
  name: string,
  at: number,
  frame: Frame,
): Promise<{ readonly namespace: Namespace; readonly isData: boolean } | undefined> {
  const { settings, state } = frame.run;
  switch (name) {
    case '@input':
    case '@stdin':
      return data(name, await inputMembers(frame));
    case '@payload':
      return data(name, membersOf(settings.payload));
    case '@state':
      return data(name, settings.hasState ? membersOf(state) : []);
  }
  const injected = settings.injected.get(name);
  if (!injected) return undefined;
  if (injected.kind === 'data') {
    return {
      namespace: { members: new Map(membersOf(injected.value)), listed: false, frontmatter: undefined, source: name },
      isData: false,
    };
  }
  const { values, interceptors, listed, frontmatter } = await moduleOfText(name, injected.text, at, frame);
  return { namespace: { members: values, interceptors, listed, frontmatter, source: name }, isData: false };
}

function data(source: string, members: readonly (readonly [string, Value])[]): { readonly namespace: Namespace; readonly isData: true } {
  return { namespace: { members: new Map(members), listed: false, frontmatter: undefined, source }, isData: true };
}

function membersOf(value: Value): readonly (readonly [string, Value])[] {
  const object = dataOf(value);
  return isDataObject(object) ? Object.entries(object).map(([name, member]) => [name, flow(member ?? null, [value])]) : [];
}

/** Returns some variables of the environment and the members of standard input, which win. */
async function inputMembers(frame: Frame): Promise<readonly (readonly [string, Value])[]> {
  const { values } = await performEffect(frame, 'env.read', ENVIRONMENT);
  const input = await readInput(frame);
  return [...Object.entries(values), ...stdinMembers(input)];
}

function stdinMembers(input: Value): readonly (readonly [string, Value])[] {
  if (input === undefined) return [];
  const isText = !(input instanceof Annotated);
  const content = dataOf(input);
  if (isText && typeof content === 'string') return [['content', content.trim()], ['text', content.trim()]]; // prettier-ignore
  if (Array.isArray(content)) return content.map((element: Value, i) => [String(i), element]);
  return isDataObject(content) ? membersOf(input) : [['value', input]];
}
