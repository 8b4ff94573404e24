/** A file whose code runs: what it is made of, and its evaluation for those who import it. world.md 11.5 and 12. */
import { SyntaxFailure } from '../../grammar/errors.js';
import { withPlainLineEnds } from '../../grammar/line-ends.js';
import { parseScript } from '../../grammar/parse.js';
import type { Script } from '../../grammar/ast.js';
import { MlldError } from '../errors.js';
import { Return } from '../runtime/completion.js';
import { locationOf } from '../runtime/errors.js';
import type { Frame, Module, ModuleExports } from '../runtime/frame.js';
import { Scope } from '../runtime/scope.js';
import { parseScriptFrontmatter, yamlErrorAt } from '../values/formats/frontmatter.js';
import { closest } from '../values/suggest.js';
import type { Value } from '../values/value.js';

export interface ModuleFacts {
  readonly path: string;
  readonly display: string;
  readonly directory: string;
  readonly text: string;
  readonly isMain?: boolean;
  readonly importedBy?: Module;
}

export function createModule({ path, display, directory, text, isMain = false, importedBy }: ModuleFacts): Module {
  return {
    path,
    display,
    directory,
    text: withPlainLineEnds(text),
    scope: new Scope('module'),
    isMain,
    silent: importedBy !== undefined,
    exports: new Set(),
    shadows: new Map(),
    sites: new Map(),
    ...(importedBy ? { importedBy } : {}),
  };
}

/** A parse error as an error of the file; anything else as it is. */
export function syntaxError(error: unknown, module: Module): unknown {
  if (!(error instanceof SyntaxFailure)) return error;
  return new MlldError(error.code, error.message, { location: locationOf(module, error.at), hint: error.hint, cause: error });
}

/** Defines `@fm`; undefined, and no name, without a block. YAML that can't be read is an error at its place. */
export async function bindFrontmatter(script: Script, module: Module): Promise<Value> {
  const { frontmatter } = script;
  if (!frontmatter) return undefined;
  try {
    const value = await parseScriptFrontmatter(frontmatter.text);
    module.scope.define({ name: 'fm', value, kind: 'ambient' });
    return value;
  } catch (error) {
    if (!(error instanceof MlldError)) throw error;
    const at = module.text.indexOf(frontmatter.text, frontmatter.at) + yamlErrorAt(error);
    const cause = new SyntaxFailure(error.message, { at }); // a head that can't be read is a parse error (world 12.3)
    throw new MlldError(error.code, error.message, { location: locationOf(module, at), cause });
  }
}

/** Runs the module below the import that `frame` is in. Its text is parsed as a whole first. */
export async function evaluateModule(module: Module, mode: Script['mode'], frame: Frame): Promise<ModuleExports> {
  const script = parseModule(module, mode);
  const frontmatter = await bindFrontmatter(script, module);
  // `for`: a `when` with a value at the top level shows it in a script, and nothing here.
  const inner: Frame = { ...frame, stack: undefined, subject: undefined, module, scope: module.scope, within: 'for' };
  const completion = await frame.execute(script.statements, inner);
  const values = exported(script, module);
  if (completion instanceof Return && completion.given) values.set('default', completion.value);
  return { module, values, interceptors: exportedInstruments(script, module), listed: module.exports.size > 0, frontmatter };
}

/** Throws parse errors of the module's text. */
export function parseModule(module: Module, mode: Script['mode']): Script {
  try {
    return parseScript(module.text, { mode });
  } catch (error) {
    throw syntaxError(error, module);
  }
}

/** Without a list, or with `*`, every name that the module declared or imported; else those of its lists. */
function exported(script: Script, module: Module): Map<string, Value> {
  const values = new Map<string, Value>();
  if (exportsEverything(module))
    for (const { name, value, kind } of module.scope.entries()) if (kind !== 'ambient') values.set(name, value);
  for (const name of module.exports) {
    if (name === '*') continue;
    const binding = module.scope.own(name);
    if (!binding || binding.kind === 'ambient') {
      if (instrumentNames(script).includes(name)) continue;
      throw exportUndefined(name, script, module);
    }
    values.set(name, binding.value);
  }
  return values;
}

function exportsEverything({ exports }: Module): boolean {
  return exports.size === 0 || exports.has('*');
}

/** Guards and hooks may stand in lists of exports and imports; they are in force for whoever imports anything. */
function exportedInstruments(script: Script, module: Module): ReadonlySet<string> {
  const names = instrumentNames(script);
  return new Set(exportsEverything(module) ? names : names.filter((name) => module.exports.has(name)));
}

function instrumentNames({ statements }: Script): readonly string[] {
  return statements.flatMap((statement) =>
    (statement.kind === 'guard' || statement.kind === 'hook') && statement.name !== undefined ? [statement.name] : [],
  );
}

function exportUndefined(name: string, script: Script, module: Module): MlldError {
  const listed = script.statements.flatMap((statement) => (statement.kind === 'export' ? statement.names : []));
  const near = closest(name, module.scope.visible());
  return new MlldError('EXPORT_UNDEFINED', `${module.display} exports @${name}, which it does not define`, {
    location: locationOf(module, listed.find((entry) => entry.name === name)?.at ?? 0),
    hint: near === undefined ? undefined : `did you mean @${near}?`,
  });
}
