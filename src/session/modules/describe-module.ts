/** Reads what a module says about itself: its frontmatter and its imports. It is parsed, and nothing of it runs. */
import type { Script } from '../../../grammar/ast.js';
import { withPlainLineEnds } from '../../../grammar/line-ends.js';
import { parseScript } from '../../../grammar/parse.js';
import { MlldError } from '../../errors.js';
import { writtenPath } from '../../language/paths.js';
import { createModule, syntaxError } from '../../language/source-module.js';
import { FORMATS, type ModuleFormat } from '../../modules/published/lock.js';
import { isVersion, parseModuleName } from '../../modules/published/module-name.js';
import { readFrontmatter } from '../../validate/needs/frontmatter.js';
import { needsOf } from '../../validate/needs/needs-of.js';
import { partsOf } from '../../validate/static-path.js';
import { topLevel } from '../../validate/top-level.js';

export interface ModuleDescription {
  readonly name?: string;
  readonly version?: string;
  readonly about?: string;
  /** The programs, packages and capabilities that it names. */
  readonly needs?: readonly string[];
  /** Published modules that it imports, as they are written. */
  readonly imports: readonly string[];
}

/** `claude-poll.mld.md` is `mld.md`; undefined for a file of another kind. */
export function formatOf(fileName: string): ModuleFormat | undefined {
  return FORMATS.find((format) => fileName.toLowerCase().endsWith(`.${format}`));
}

/** Throws the parse errors of the module, and MODULE_NOT_ALONE for one that needs files beside it. */
export async function describeModule(bytes: Uint8Array, format: ModuleFormat, written: string): Promise<ModuleDescription> {
  const text = Buffer.from(bytes).toString('utf8');
  if (!Buffer.from(text, 'utf8').equals(bytes)) {
    throw new MlldError('MODULE_NOT_TEXT', `${written} is not UTF-8 text`, { hint: 'a module is a file of mlld source' });
  }
  const script = parsed(text, format, written);
  const imports = new Set<string>();
  for (const statement of topLevel(script)) {
    if (statement.kind === 'exe' && statement.body.kind === 'template-file') {
      refuseRelative(writtenPath(partsOf(statement.body.path)), written);
    }
    if (statement.kind !== 'import' || statement.source.kind === 'node') continue;
    const { source } = statement;
    if (source.kind === 'provided') {
      const named = parseModuleName(source.name);
      if (named) imports.add(source.name);
    } else refuseRelative(writtenPath(source.path), written);
  }
  const described = await saidBy(script, withPlainLineEnds(text), written);
  if (described.version !== undefined && !isVersion(described.version)) {
    throw new MlldError('MODULE_VERSION', `The version of ${written} is not one: ${JSON.stringify(described.version.slice(0, 40))}`, {
      hint: 'a version is made of letters, digits, and . + _ -',
    });
  }
  return { ...described, imports: [...imports] };
}

function parsed(text: string, format: ModuleFormat, written: string): ReturnType<typeof parseScript> {
  const plain = withPlainLineEnds(text);
  try {
    return parseScript(plain, { mode: format === 'mld' ? 'strict' : 'markdown' });
  } catch (error) {
    throw syntaxError(error, createModule({ path: written, display: written, directory: '/', text: plain }));
  }
}

/** `./x.mld` beside a module is in no project that adds it. Paths from `@root`, `/` and variables are the project's own. */
function refuseRelative(path: string, written: string): void {
  if (path.startsWith('/') || path.startsWith('@') || /^https?:/i.test(path)) return;
  throw new MlldError('MODULE_NOT_ALONE', `${written} needs the file ${path} beside it, and a published module is one file`, {
    hint: 'publish that file as a module of its own, or use the folder through a resolver prefix: docs/modules.md',
  });
}

async function saidBy(script: Script, text: string, written: string): Promise<Omit<ModuleDescription, 'imports'>> {
  const { facts, problem } = await readFrontmatter(script, text);
  if (problem) throw new MlldError('INVALID_YAML', `${written}: ${problem.message}`);
  const { name, author, version, about } = facts;
  const whole = name?.startsWith('@') ? name : author === undefined ? undefined : `@${author.replace(/^@/, '')}/${name ?? ''}`;
  const published = whole === undefined ? undefined : parseModuleName(whole)?.name;
  const needs = [...new Set(needsOf(script, facts.needs).map((need) => need.name))];
  return {
    ...(published !== undefined && { name: published }),
    ...(version !== undefined && { version }),
    ...(about !== undefined && { about }),
    ...(needs.length > 0 && { needs }),
  };
}
