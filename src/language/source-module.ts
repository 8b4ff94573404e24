/** A source file as a module: its text, its tree, its head. Nothing of it runs here. world.md 12. */
import { SyntaxFailure } from '../../grammar/errors.js';
import { withPlainLineEnds } from '../../grammar/line-ends.js';
import { parseScript } from '../../grammar/parse.js';
import type { Script } from '../../grammar/ast.js';
import { MlldError } from '../errors.js';
import { locationOf } from '../runtime/errors.js';
import type { Module } from '../runtime/module.js';
import { Scope } from '../runtime/scope.js';
import { parseScriptFrontmatter, yamlErrorAt } from '../values/formats/frontmatter.js';
import type { Value } from '../values/value.js';
import { refuseWrittenOptions } from './calls/written-options.js';

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

/** Returns a parse error as an error of the file, and any other error as it is. */
export function syntaxError(error: unknown, module: Module): unknown {
  if (!(error instanceof SyntaxFailure)) return error;
  return new MlldError(error.code, error.message, { location: locationOf(module, error.at), hint: error.hint, cause: error });
}

/**
 * Defines `@fm` and `@frontmatter`, and returns their value; does nothing for a script without frontmatter. YAML that can't be read is an
 * error at its place.
 */
export async function bindFrontmatter(script: Script, module: Module): Promise<Value> {
  const { frontmatter } = script;
  if (!frontmatter) return undefined;
  try {
    const value = await parseScriptFrontmatter(frontmatter.text);
    for (const name of ['fm', 'frontmatter']) module.scope.define({ name, value, kind: 'ambient' });
    return value;
  } catch (error) {
    if (!(error instanceof MlldError)) throw error;
    const at = module.text.indexOf(frontmatter.text, frontmatter.at) + yamlErrorAt(error);
    const cause = new SyntaxFailure(error.message, { at }); // frontmatter that can't be read is a parse error (world 12.3)
    throw new MlldError(error.code, error.message, { location: locationOf(module, at), cause });
  }
}

/** Throws the parse errors of the text as errors of the file, and CALL_OPTION. */
export function parseModule(module: Module, mode: Script['mode']): Script {
  const script = parsed(module, mode);
  refuseWrittenOptions(script, module);
  return script;
}

function parsed(module: Module, mode: Script['mode']): Script {
  try {
    return parseScript(module.text, { mode });
  } catch (error) {
    throw syntaxError(error, module);
  }
}
