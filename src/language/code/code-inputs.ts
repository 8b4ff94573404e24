/**
 * Finds everything that code gets beside its text: variables, standard input, working directory, members of `@mx` and functions of its
 * environment. control.md 5 and 7. Under `var llm`, it is a part of the call key (checkpoint-resume.md 6.2).
 *
 * CODE-INPUTS-1 Code that gets nothing has no part in the key beside its text: so it keeps the key that older programs made.
 * CODE-INPUTS-2 Everything that can differ between two executions of one text is in the key, apart from what the run itself has come to.
 */
import path from 'node:path';
import type { Code } from '../../../grammar/ast.js';
import type { Json } from '../../../journal/event.js';
import { callArguments } from '../../runtime/calls/call-key.js';
import type { Executable } from '../../runtime/definitions/executable.js';
import type { Frame, JudgedCode } from '../../runtime/frame.js';
import { Scope } from '../../runtime/scope.js';
import { isDataObject } from '../../values/plain-object.js';
import { compactText, originalText, textOf } from '../../values/text.js';
import { dataOf, type DataObject, type Value } from '../../values/value.js';
import { contextValue } from '../expressions/context-variables.js';
import { shellVariablesFor, variablesFor, type Variable } from './code-variables.js';

/** The inputs of a call that is code. */
export interface CodeInputs {
  readonly values: readonly Value[];
  /** Returns the part of the call key beside the text; undefined for code that gets nothing. `values` may be replaced ones. */
  keyPart(values: readonly Value[]): Json | undefined;
  /** Returns the code and the frame in which it gets other values. */
  withValues(values: readonly Value[], frame: Frame): { readonly node: Code; readonly frame: Frame };
}

/** `evaluated`: its command line, standard input and folder, which are evaluated once. */
export function codeInputs(node: Code, frame: Frame, evaluated: JudgedCode): CodeInputs {
  const { line, stdin, folder } = evaluated;
  const variables = line ? shellVariablesFor(node, frame) : variablesFor(node, frame);
  const context = line ? undefined : contextFor(node, frame, variables);
  // The values of a command line end with those of its variables.
  const first = line ? line.used.length - variables.length : 0;
  const own = line ? line.used : variables.map(({ value }) => value);
  const values = [...own, ...(stdin ? [stdin.value] : []), ...(context ? contextParts(context) : [])];
  const valueOf = (given: readonly Value[], i: number): Value => given[first + i];
  return {
    values,
    keyPart(given) {
      const passed = variables.flatMap(({ name }, i): [string, Json][] => {
        const value = valueOf(given, i);
        return value === undefined ? [] : [[name, jsonOf(value)]];
      });
      const mx = context ? countedContext(node, frame) : [];
      const part: Record<string, Json> = {
        ...(passed.length > 0 && { variables: Object.fromEntries(passed) }),
        ...(stdin && { stdin: inputText(node, given[own.length]) }),
        ...(folder && { directory: folderName(folder.directory, frame) }),
        ...(mx.length > 0 && { mx: Object.fromEntries(mx) }),
      };
      return Object.keys(part).length === 0 ? undefined : part;
    },
    withValues(given, inner) {
      if (given.every((value, i) => value === values[i])) return { node, frame: { ...inner, judged: evaluated } };
      const scope = new Scope('block', inner.scope);
      variables.forEach(({ name }, i) => scope.define({ name, value: valueOf(given, i), kind: 'ambient' }));
      const judged = { ...evaluated, ...(stdin && { stdin: { value: given[own.length] } }) };
      return { node: { ...node, variables: variables.map(({ name }) => name) }, frame: { ...inner, scope, judged } };
    },
  };
}

function jsonOf(value: Value): Json {
  return callArguments([value])[0] as Json;
}

/** The same folder of the project is the same on every machine. */
function folderName(directory: string, { run: { settings } }: Frame): string {
  const relative = path.relative(settings.projectRoot, directory);
  if (relative === '') return '.';
  return relative.startsWith('..') || path.isAbsolute(relative) ? directory : relative.split(path.sep).join('/');
}

/** Members of `@mx` about what the run has come to: code that counts costs is not another call at each cost. */
const UNCOUNTED: ReadonlySet<string> = new Set(['usage', 'cost', 'checkpoint', 'call', 'hooks']);

/** Counts the index alone for `mx.for.index`, and not the rest of `mx.for`: with one more item, the items before make the same calls. */
function countedContext(node: Code, frame: Frame): [string, Json][] {
  const found = new Map<string, Json>();
  for (const [name, inner] of mentionedIn(node, frame.module)) {
    if (name === undefined) {
      const all = contextValue(undefined, frame) as DataObject;
      for (const [each, value] of Object.entries(all)) if (!UNCOUNTED.has(each)) found.set(each, jsonOf(value));
    } else if (!UNCOUNTED.has(name)) {
      const value = contextValue(name, frame);
      const data = dataOf(value);
      const isMember = inner !== undefined && isDataObject(data) && Object.hasOwn(data, inner);
      found.set(isMember ? `${name}.${inner}` : name, jsonOf(isMember ? data[inner] : value));
    }
  }
  return [...found];
}

/** Returns the members of `@mx` that the code mentions, or all where it mentions `mx` alone. In some code `mx` is a variable. */
export function contextFor(node: Code, frame: Frame, listed: readonly Variable[]): DataObject | undefined {
  const mentioned = mentionedIn(node, frame.module);
  if (mentioned.length === 0 || listed.some(({ name }) => name === 'mx')) return undefined;
  const names = mentioned.map(([name]) => name);
  if (names.includes(undefined)) return contextValue(undefined, frame) as DataObject;
  return Object.fromEntries(names.map((name) => [name, contextValue(name, frame)])) as DataObject;
}

/** True for code in the body of the function that gets a member of `@mx`. */
export function readsContext(node: Code, { module, params }: Executable): boolean {
  return !(node.variables ?? params).includes('mx') && mentionedIn(node, module).length > 0;
}

/** Returns the members of `mx`, and of these the members, that the code and the functions of its environment mention. */
function mentionedIn(node: Code, module: Frame['module']): readonly (readonly [name: string | undefined, inner: string | undefined])[] {
  const { language } = node;
  if (language !== 'js' && language !== 'node') return [];
  const { shadow = [] } = shadowOf(node, { module });
  if (shadow.length === 0 && !sourceOf(node).includes('mx')) return []; // mostly, and this is done for each call
  const codes = [sourceOf(node), ...shadow.map(({ code }) => code)].filter((code) => code.includes('mx'));
  return codes.flatMap((code) => [...code.matchAll(MX)].map(([, name, inner]) => [name, inner] as const));
}

/** Returns the members and their members: they have labels of their own. */
export function contextParts(context: DataObject): Value[] {
  return Object.values(context).flatMap((member) => {
    const data = dataOf(member);
    return typeof data === 'object' && data !== null ? [member, ...Object.values(data as DataObject)] : [member];
  });
}

const MX = /(?<![\w$.])mx(?![\w$])(?:\s*\??\.\s*([A-Za-z_$][\w$]*)(?:\s*\??\.\s*([A-Za-z_$][\w$]*))?)?/g;

export function sourceOf(node: Code): string {
  const part = node.text[0];
  return part?.kind === 'text' ? part.text : '';
}

/** Returns the functions that code of this language may call: the latest set that the module declared. control.md 7. */
export function shadowOf(
  node: Code,
  { module }: Pick<Frame, 'module'>,
): { shadow?: { name: string; params: readonly string[]; code: string }[] } {
  const functions = module.shadows.get(node.language);
  if (!functions || functions.length === 0) return {};
  return { shadow: functions.map(shadowSource) };
}

function shadowSource(executable: Executable): { name: string; params: readonly string[]; code: string } {
  const { code } = executable;
  return { name: executable.name, params: executable.params, code: code ? sourceOf(code) : '' };
}

/** Returns the text of the standard input. Under `with { stdin }`, behind the code, and `run @v | { … }`, a list of scalars has lines. */
export function inputText(node: Code, value: Value): string {
  const isByLines = node.stdin !== undefined && (node.isRun === true || node.stdin.at > node.at);
  const data = dataOf(value);
  const text = originalText(value);
  if (text !== undefined) return text;
  const isList = Array.isArray(data) && data.every((element: Value) => typeof dataOf(element) !== 'object' || dataOf(element) === null);
  if (isByLines && isList) return data.map(textOf).join('\n');
  return typeof data === 'object' && data !== null ? compactText(value) : textOf(value);
}
