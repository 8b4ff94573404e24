/**
 * Finds the definitions of a script's functions as they are now, without running it. Evaluates the declarations at the top level of the
 * script and of its imports in a read-only world: files are read, nothing is written, and no command, no code of another language and no
 * llm call runs. A value that would need one of these is unknown, and so is every value that depends on it.
 */
import type { Guard, Hook, Script, Statement } from '../../../grammar/ast.js';
import { sha256 } from '../../../journal/canonical.js';
import type { CurrentDefinition } from '../../../replay/resume/decide-reuse.js';
import type { CallOptions } from '../../calls/options.js';
import { callOptions } from '../../language/calls/call-options.js';
import { execute } from '../../language/evaluate.js';
import { Executable } from '../../runtime/definitions/executable.js';
import type { Frame } from '../../runtime/frame.js';
import type { Module } from '../../runtime/module.js';
import type { BindingKind } from '../../runtime/scope.js';
import { bindFrontmatter } from '../../language/source-module.js';
import { definitionOf, type KeyedDigest } from '../../operation/fingerprint.js';
import { withInterceptors } from '../../operation/interceptors.js';
import type { Operation } from '../../runtime/operation.js';
import type { ResultCache } from '../../runtime/calls/result-cache.js';
import { SecretRegistry } from '../../runtime/secrets/secret-registry.js';
import type { RunOptions } from './run-options.js';
import { compactJson } from '../../values/text.js';
import { dataOf, NO_LABELS, LazyData, type Value } from '../../values/value.js';
import type { EffectKind, World } from '../../world/world.js';
import { NO_RESULT_CACHE } from '../no-result-cache.js';
import { createDocument } from './document.js';
import { rootFrame, createRunState } from './root-frame.js';
import { NO_RECORDER } from '../ports/recorder.js';
import { settingsFor, stateFor } from './settings.js';

/** These effects leave no trace. */
const READ_ONLY_EFFECTS: ReadonlySet<EffectKind> = new Set<EffectKind>([
  'file.read',
  'file.stat',
  'file.glob',
  'file.list',
  'file.similar',
  'clock.now',
  'env.read',
]);

const DECLARATIONS: ReadonlySet<string> = new Set<Statement['kind']>(['var', 'let', 'append-to', 'exe', 'shadow', 'import', 'export']);

/** Replaces an unknown value in a definition. No script can have this text, because no text of a script holds a NUL. */
const UNKNOWN_TEXT = '\0unknown before the run';
const UNKNOWN_DIGEST = sha256(compactJson(UNKNOWN_TEXT));

/** Counts the refused effects. The error is never shown: the declaration that caught it is unknown. */
class Refusals {
  count = 0;
  /** Guards and hooks of the top level do not act on declarations here: they are registered after all declarations. */
  readonly interceptors: { readonly node: Guard | Hook; readonly frame: Frame }[] = [];
  refuse(what: string): Error {
    this.count++;
    return new Error(`not before the run: ${what}`);
  }
}

interface DeclaringRequest {
  readonly module: Module;
  readonly options: RunOptions;
  readonly world: World;
}

interface DefinitionsRequest extends DeclaringRequest {
  readonly script: Script;
  /** Digests secret texts with the key that recorded runs used. */
  readonly keyed: KeyedDigest;
}

interface Declared {
  readonly frame: Frame;
  readonly run: Frame['run'];
}

/** A definition with the options that decide about results and prices; undefined where only the run can tell them. */
export interface ScriptDefinition extends CurrentDefinition {
  readonly options: Pick<CallOptions, 'reply' | 'schema' | 'maxCost' | 'files'> | undefined;
}

/** Returns the definitions by name of the function; there are several if modules declare the same name. */
export async function currentDefinitions(request: DefinitionsRequest): Promise<ReadonlyMap<string, readonly ScriptDefinition[]>> {
  const { script, module, keyed } = request;
  const { frame, run } = await declaring(request, async (inner) => {
    await bindFrontmatter(script, module);
    await inner.execute(script.statements, inner);
  });
  const modules = [module];
  for (const imported of run.modules.values()) await imported.then(({ module: found }) => modules.push(found)).catch(() => undefined);
  return definitionsIn(modules, keyed, frame);
}

/** Returns a frame with what `load` has loaded into it, guards and hooks too. Throws what `load` throws. */
export async function currentModules(request: DeclaringRequest, load: (frame: Frame) => Promise<unknown>): Promise<Frame> {
  return (await declaring(request, load)).frame;
}

/**
 * Declares the functions of a script and of its imports for a worker, which is given the values of variables: those of the script itself
 * are not evaluated. Returns the modules, the script's first.
 */
export async function declareFunctions({ script, ...request }: DeclaringRequest & { readonly script: Script }): Promise<readonly Module[]> {
  const { module } = request;
  const { run } = await declaring(request, async (inner) => {
    await bindFrontmatter(script, module);
    await inner.execute(withoutVariables(script.statements), inner);
  });
  const modules = [module];
  for (const imported of run.modules.values()) await imported.then(({ module: found }) => modules.push(found)).catch(() => undefined);
  return modules;
}

function withoutVariables(list: readonly Statement[]): readonly Statement[] {
  return list
    .filter(({ kind }) => kind !== 'var' && kind !== 'let' && kind !== 'append-to')
    .map((statement) => (statement.kind === 'fence' ? { ...statement, statements: withoutVariables(statement.statements) } : statement));
}

/** Evaluates declarations only, and registers the guards and hooks behind them. */
async function declaring({ module, options, world }: DeclaringRequest, load: (frame: Frame) => Promise<unknown>): Promise<Declared> {
  const refusals = new Refusals();
  const silent = { ...options, io: { ...options.io, stdout: () => undefined, stderr: () => undefined } };
  const run = createRunState({
    options: silent,
    world: readOnlyWorld(world, refusals),
    recorder: NO_RECORDER,
    cache: refusingCache(refusals),
    secrets: new SecretRegistry(),
    document: createDocument({ streaming: false, collects: false }),
    settings: await settingsFor(options, module.directory, world),
    state: await stateFor(options.state, module.directory, world),
    signal: options.signal,
  });
  const frame = rootFrame(run, module, (list, inner) => (isTopLevel(inner) ? declare(list, inner, refusals) : execute(list, inner)));
  await load(frame);
  for (const { node, frame: at } of refusals.interceptors) register(node, at);
  return { frame, run };
}

/** Skips one that can't be registered: the run itself reports why. */
function register(node: Guard | Hook, frame: Frame): void {
  try {
    if (node.kind === 'guard') frame.run.interceptors.registerGuard(node, frame);
    else frame.run.interceptors.registerHook(node, frame);
  } catch {
    // It applies to no call.
  }
}

function readOnlyWorld(world: World, refusals: Refusals): World {
  return {
    perform: async (kind, request) => {
      if (!READ_ONLY_EFFECTS.has(kind)) throw refusals.refuse(kind);
      return world.perform(kind, request);
    },
    close: async () => undefined, // the world belongs to the caller
  };
}

function refusingCache(refusals: Refusals): ResultCache {
  return {
    ...NO_RESULT_CACHE(),
    policy: () => ({ records: true, reuses: true }),
    lookup: async ({ key }) => {
      throw refusals.refuse(`the llm call ${key}`);
    },
  };
}

function isTopLevel({ stack, scope, module }: Frame): boolean {
  return stack === undefined && scope === module.scope;
}

async function declare(list: readonly Statement[], frame: Frame, refusals: Refusals): Promise<undefined> {
  for (const statement of list) {
    if (statement.kind === 'fence') await declare(statement.statements, frame, refusals);
    else if (statement.kind === 'guard' || statement.kind === 'hook') refusals.interceptors.push({ node: statement, frame });
    else if (DECLARATIONS.has(statement.kind)) await declareOne(statement, frame, refusals);
    else for (const name of changedIn(statement)) markUnknown(name, 'let', frame, refusals);
  }
}

async function declareOne(statement: Statement, frame: Frame, refusals: Refusals): Promise<void> {
  const before = refusals.count;
  const names = namesOf(statement);
  try {
    await execute([statement], frame);
    // Throws if a collection holds an unknown value.
    if (statement.kind === 'var' || statement.kind === 'let') compactJson(frame.scope.own(statement.name)?.value);
    // The unknown names of a module are marked in the module itself.
    if (statement.kind === 'import' || refusals.count === before) return;
  } catch {
    // The run itself reports the error, if it gets there.
  }
  for (const name of names) markUnknown(name, statement.kind === 'exe' ? 'exe' : 'let', frame, refusals);
}

function namesOf(statement: Statement): readonly string[] {
  switch (statement.kind) {
    case 'var':
    case 'let':
    case 'append-to':
    case 'exe':
      return [statement.name];
    case 'import':
      return statement.names?.map(({ name, alias }) => alias ?? name) ?? (statement.alias === undefined ? [] : [statement.alias]);
    default:
      return [];
  }
}

/** Collects the names to which statements inside may append; they were not executed. */
function changedIn(statement: Statement): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if (Array.isArray(node)) return node.forEach(visit);
    const { kind, name } = node as { kind?: unknown; name?: unknown };
    if (kind === 'append-to' && typeof name === 'string') names.add(name);
    Object.values(node).forEach(visit);
  };
  visit(statement);
  return names;
}

/** Makes every later use of the value an error. */
function markUnknown(name: string, kind: BindingKind, { scope }: Frame, refusals: Refusals): void {
  const look = (): never => {
    throw refusals.refuse(`@${name}`);
  };
  scope.define({ name, kind, value: new Unknown({ data: look, text: look }, { labels: NO_LABELS, sources: NO_LABELS }) });
}

/** Remains unknown whatever labels it gets. */
class Unknown extends LazyData {
  override withMetadata(): Unknown {
    return this;
  }
}

async function definitionsIn(
  modules: readonly Module[],
  keyed: KeyedDigest,
  frame: Frame,
): Promise<ReadonlyMap<string, readonly ScriptDefinition[]>> {
  const unknown = modules.flatMap(({ scope }) =>
    [...scope.entries()].flatMap((binding) => (binding.value instanceof Unknown ? [{ scope, binding }] : [])),
  );
  for (const { scope, binding } of unknown) scope.define({ ...binding, value: UNKNOWN_TEXT });
  const found = new Map<string, ScriptDefinition[]>();
  const { interceptors } = frame.run;
  const seen = new Set<Executable>();
  for (const { scope } of modules) {
    for (const { value } of scope.entries()) {
      const executable = executableIn(value);
      if (executable === undefined || seen.has(executable)) continue;
      seen.add(executable);
      const definition = await definitionOf(executable, keyed);
      const held = interceptors.holding(callOf(executable), definition.reach, 'nothing');
      const { fingerprint, parts } = await withInterceptors(definition, held, keyed);
      const unknown = parts.filter(({ digest }) => digest === UNKNOWN_DIGEST).map(({ name }) => name);
      const current = {
        fingerprint,
        parts,
        unknown,
        guardsByLabel: interceptors.guardsByLabel(),
        forwards: executable.forwarded !== undefined,
        writes: declaresFiles(executable),
        options: await declaredOptions(executable, frame),
      };
      found.set(executable.name, [...(found.get(executable.name) ?? []), current]);
    }
  }
  return found;
}

/** A call as far as its declaration determines it: called by its own name, with arguments without labels, under all guards. */
function callOf({ name, labels, params, code }: Executable): Operation {
  const nowhere = (): string => '';
  return {
    kind: 'exe',
    segment: name,
    name,
    labels,
    inputs: [],
    call: {
      declared: name,
      called: [name],
      params,
      ...(code && { language: code.language }),
      site: nowhere,
      declaredAt: nowhere,
      repeatable: false,
    },
  };
}

/** Undefined where an option depends on an argument, or on a value that is known only during the run. */
async function declaredOptions(executable: Executable, frame: Frame): Promise<ScriptDefinition['options']> {
  const { module } = executable;
  try {
    return await callOptions(executable, { ...frame, module, scope: module.scope }, ['reply', 'schema', 'maxCost', 'files']);
  } catch {
    return undefined; // a wrong one is an error of the run itself
  }
}

function declaresFiles({ node }: Executable): boolean {
  return node.options.some(({ name }) => name === 'writes');
}

function executableIn(value: Value): Executable | undefined {
  const data = dataOf(value);
  return data instanceof Executable ? data : undefined;
}
