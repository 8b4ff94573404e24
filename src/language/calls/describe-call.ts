/**
 * Describes a call for a worker on another machine: its arguments, and the variables that its function captures. Says which calls only the
 * run itself can execute. team-store.md 7.2. Loaded with the first call that is offered.
 */
import type { Json } from '../../../journal/event.js';
import {
  UNLABELLED,
  type DescribedCall,
  type CapturedVariable,
  type NotOffered,
  type OfferedValue,
} from '../../runtime/calls/offered-call.js';
import { encodeResult } from '../../operation/encode-result.js';
import { codeIn, listedBy } from '../../runtime/definitions/used-by-code.js';
import type { Use } from '../../runtime/definitions/definition.js';
import { functionsReached, usesIn } from '../../runtime/definitions/uses.js';
import { sourceName } from '../../operation/sources.js';
import type { CallDetails } from '../../runtime/ports.js';
import { Executable } from '../../runtime/definitions/executable.js';
import type { Frame } from '../../runtime/frame.js';
import type { Module } from '../../runtime/module.js';
import { isSecret, SECRET } from '../../runtime/secrets/secret-registry.js';
import { Callable } from '../../values/kinds/callable.js';
import { textOf } from '../../values/text.js';
import { readsContext } from '../code/code-inputs.js';
import { operationsInside } from './operations-inside.js';
import { dataOf, labelsOf, sourcesOf, type Value } from '../../values/value.js';

/** Statements and expressions that reach the terminal, a person or the state of the run. */
const ONLY_HERE: { readonly [kind: string]: string } = {
  show: 'it shows something',
  log: 'it logs something',
  output: 'it writes output',
  append: 'it appends to a file',
  'effect-stage': 'it writes output',
  stream: 'it streams to the terminal',
  checkpoint: 'it reaches a checkpoint',
  bail: 'it may end the run',
};
/** Reads of the project's files, and of a folder that a worker may not have. */
const FILES: ReadonlySet<string> = new Set(['load', 'load-part', 'file-text', 'file', 'files', 'import']);
/** Names whose values only the run itself knows. */
const ONLY_HERE_NAMES: { readonly [name: string]: string } = {
  mx: 'it reads @mx',
  state: 'it reads @state',
  input: 'it reads standard input',
  stdin: 'it reads standard input',
  payload: 'it reads @payload',
  p: 'it reads its pipeline',
  pipeline: 'it reads its pipeline',
  debug: 'it reads @debug',
  keychain: 'it reads a keychain',
};
const FILE_NAMES: ReadonlySet<string> = new Set(['root', 'base']);

export async function describeCall(
  executable: Executable,
  inputs: readonly Value[],
  frame: Frame,
  { ambient, labels }: Pick<CallDetails, 'ambient' | 'labels'>,
): Promise<DescribedCall | NotOffered> {
  if (ambient !== undefined) return { because: 'it is the stage of a pipeline' };
  if (inputs.some((input) => holdsFunction(input))) return { because: 'a function is among its arguments' };
  const reached = new Set<Executable>();
  addReached(executable, reached);
  const captured: CapturedVariable[] = [];
  const values = [...inputs];
  let readsFiles = false;
  for (const each of reached) {
    const looked = lookAt(each);
    if (looked.because !== undefined) return { because: looked.because };
    readsFiles ||= looked.readsFiles;
    for (const [name, value] of variablesOf(each)) {
      if (holdsFunction(value)) continue;
      captured.push({ module: nameOf(each.module, frame), name, value: offeredValue(value) });
      values.push(value);
    }
  }
  const { reach, hasOperations } = operationsInside(executable, reached);
  const lane = executable.node.options.find(({ name }) => name === 'lane')?.value;
  const laneName = lane && (await frame.evaluate(lane, frame));
  if (isSecret(laneName)) return { because: 'its lane is secret' };
  const hasSecret = values.some(isSecret) || labels?.includes(SECRET) === true || [...reached].some(makesSecret);
  const args = inputs.map(offeredValue);
  const unlabelled = [...args, ...captured.map(({ value }) => value)].filter(({ labels: own = [] }) => !own.includes(SECRET));
  if (holdKnownSecret([...unlabelled, textOf(laneName)], frame)) return { because: UNLABELLED };
  return {
    module: nameOf(executable.module, frame),
    main: nameOf(mainOf(executable.module, frame), frame),
    ...(labels && { labels }),
    args,
    captured,
    inside: { reach, labels: hasOperations ? [...new Set(values.flatMap(labelsOf))] : [] },
    lane: lane === undefined ? '' : textOf(laneName),
    readsFiles,
    hasSecret,
  };
}

function offeredValue(value: Value): OfferedValue {
  const { json, form, notes } = encodeResult(value);
  const [labels, sources] = [labelsOf(value), sourcesOf(value)];
  return {
    json: json ?? (null as Json),
    ...(form !== undefined && { form }),
    notes,
    ...(labels.length > 0 && { labels }),
    ...(sources.length > 0 && { sources }),
  };
}

/** A worker would record its result, or the definition, with a key of its own. */
function makesSecret(executable: Executable): boolean {
  return executable.labels.includes(SECRET) || lookAt(executable).makesSecret;
}

/** A worker has only the labels to know a secret by: in another value it would record one in clear text. */
function holdKnownSecret(values: readonly unknown[], { run: { secrets } }: Frame): boolean {
  return !secrets.isEmpty && secrets.appearIn(JSON.stringify(values));
}

function nameOf(module: Module, { run }: Frame): string {
  return sourceName(run.settings, module.path);
}

function mainOf(module: Module, frame: Frame): Module {
  for (let each: Module | undefined = module; each; each = each.importedBy) if (each.isMain) return each;
  return frame.module.isMain ? frame.module : module;
}

function addReached(executable: Executable, reached: Set<Executable>): void {
  if (reached.has(executable)) return;
  reached.add(executable);
  for (const use of usesOf(executable)) {
    for (const each of functionsReached(executable.module.scope.own(use.name)?.value, use)) addReached(each, reached);
  }
}

const USES = new WeakMap<Executable, readonly Use[]>();

/** The trees of functions don't change. */
function usesOf(executable: Executable): readonly Use[] {
  const known = USES.get(executable);
  if (known) return known;
  const { node, params, template } = executable;
  const trees = [node.body, ...node.options.map(({ value }) => value), template?.template];
  const listed = (tree: unknown): readonly Use[] => listedBy(codeIn(tree)).map((name) => ({ name, members: [] }));
  const uses = trees.flatMap((tree) => [...usesIn(tree), ...listed(tree)]).filter(({ name }) => !params.includes(name));
  USES.set(executable, uses);
  return uses;
}

function namesOf(executable: Executable): ReadonlySet<string> {
  return new Set(usesOf(executable).map(({ name }) => name));
}

function* variablesOf(executable: Executable): Generator<[name: string, value: Value]> {
  for (const name of namesOf(executable)) {
    const binding = executable.module.scope.own(name);
    if (binding && !(dataOf(binding.value) instanceof Executable)) yield [name, binding.value];
  }
}

interface Look {
  makesSecret: boolean;
  because: string | undefined;
  readsFiles: boolean;
}

const LOOKS = new WeakMap<Executable, Look>();

function lookAt(executable: Executable): Look {
  const known = LOOKS.get(executable);
  if (known) return known;
  const look: Look = { because: undefined, readsFiles: false, makesSecret: false };
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if (Array.isArray(node)) return node.forEach(visit);
    const { kind, directory, labels } = node as { readonly kind?: unknown; readonly directory?: unknown; readonly labels?: unknown };
    if (Array.isArray(labels)) look.makesSecret ||= labels.includes(SECRET);
    if (typeof kind === 'string') {
      look.because ??= Object.hasOwn(ONLY_HERE, kind) ? ONLY_HERE[kind] : undefined;
      look.readsFiles ||= FILES.has(kind) || (kind === 'code' && directory !== undefined);
    }
    Object.values(node).forEach(visit);
  };
  const trees = [executable.node.body, executable.template?.template];
  visit(trees);
  if (codeIn(trees).some((code) => readsContext(code, executable))) look.because ??= ONLY_HERE_NAMES['mx'];
  for (const name of namesOf(executable)) {
    if (executable.module.scope.own(name)) continue;
    look.because ??= Object.hasOwn(ONLY_HERE_NAMES, name) ? ONLY_HERE_NAMES[name] : undefined;
    look.readsFiles ||= FILE_NAMES.has(name);
  }
  LOOKS.set(executable, look);
  return look;
}

const DEPTH_MAX = 20;

function holdsFunction(value: Value, depth = 0): boolean {
  const data = dataOf(value);
  if (data instanceof Callable) return true;
  if (typeof data !== 'object' || data === null || depth > DEPTH_MAX) return false;
  return (Array.isArray(data) ? data : Object.values(data)).some((part) => holdsFunction(part as Value, depth + 1));
}
