/**
 * Follows imports and templates, and finds missing files, broken files and names that they don't export. world.md 11, 13 and 19.
 *
 * LINK-1  Every file is checked once, however many import it; a circle ends at the import that closes it.
 * LINK-2  Imports that depend on a run (a variable in a path, inputs of the run, modules of Node) are taken to be correct.
 */
import path from 'node:path';
import type { Import } from '../../../grammar/ast.js';
import { isObject } from '../../../journal/json-object.js';
import { locate } from '../../../grammar/parse.js';
import { isMethod } from '../../values/methods/methods.js';
import { closest } from '../../values/suggest.js';
import { UNKNOWN_EXPORTS, exportsOf, type Exports } from '../exports.js';
import { applyRules, type LocatedFinding } from '../located-finding.js';
import type { ParsedScript, Violation } from '../rule.js';
import { argumentsOfTheCaller } from '../rules/arguments-of-the-caller.js';
import { surplusArguments, surplusOf } from '../rules/call-arity.js';
import { literalCheckpoints } from '../rules/checkpoints.js';
import { exportedNamesRule } from '../rules/names/exported-names.js';
import { isGlued } from '../rules/names/unknown-names.js';
import { linkCollection, linkTemplate } from './link-templates.js';
import { report, type LinkState } from './link-state.js';
import { linkDirectory, locateModule } from './locate-module.js';
import { namedModule, pathOf } from './import-target.js';
import { checkNeedsOfModule } from '../needs/needs-of-imports.js';
import { partsOf, resolveStatic, staticText } from '../static-path.js';
import type { Declaration } from '../static-scope.js';
import { unknownInTemplate } from './template-names.js';
import { surelyExecuted } from '../surely-executed.js';
import { topLevel } from '../top-level.js';
import type { Workspace } from './workspace.js';

/** Returns findings about the imports and templates of a script and about the imported files. The rules check the script itself. */
export async function linkImports(main: ParsedScript, workspace: Workspace): Promise<readonly LocatedFinding[]> {
  const linking: LinkState = {
    workspace,
    found: [],
    exports: new Map(),
    imported: new Map(),
    namespaces: new Map(),
    templates: new Map(),
    named: new Map(),
  };
  await linkScript(main, [], linking);
  for (const { file, uses } of linking.templates.values()) {
    for (const violation of unknownInTemplate(file, uses))
      linking.found.push({ list: 'warnings', code: 'template-parameter', file, violation });
  }
  return linking.found;
}

async function linkScript(file: ParsedScript, around: readonly string[], linking: LinkState): Promise<Exports> {
  const inside = [...around, file.absolute];
  for (const statement of topLevel(file.script)) {
    if (statement.kind === 'import') await linkImport(statement, file, inside, linking);
    if (statement.kind !== 'exe' || statement.body.kind !== 'template-file') continue;
    const written = staticText(statement.body.path) ?? '';
    const absolute = resolveStatic(partsOf(statement.body.path), path.dirname(file.absolute), linking.workspace);
    if (absolute !== undefined) await linkTemplate(statement, { absolute, written, at: statement.body.path.at }, file, linking);
  }
  refuseRepeatedNames(file, linking);
  for (const violation of surplusArguments(file, (declaration) => linking.imported.get(declaration)))
    linking.found.push({ list: 'antiPatterns', code: 'surplus-arguments', file, violation });
  for (const violation of argumentsOfTheCaller(file, (declaration) => linking.imported.get(declaration)))
    linking.found.push({ list: 'antiPatterns', code: 'arguments-of-the-caller', file, violation });
  checkMembers(file, linking);
  const exports = exportsOf(file, (declaration) => linking.imported.get(declaration));
  linking.exports.set(file.absolute, exports);
  return exports;
}

/** Reports checkpoints, hooks and guards that have the same name in two files. The rules report those in one file. */
function refuseRepeatedNames(file: ParsedScript, { named, found }: LinkState): void {
  const checkpoints = literalCheckpoints(file.script).map(({ name, at }) => ({
    what: `checkpoint "${name}"`,
    code: 'checkpoint-twice',
    at,
  }));
  const interceptors = topLevel(file.script).flatMap((statement) =>
    (statement.kind === 'hook' || statement.kind === 'guard') && statement.name !== undefined
      ? [{ what: `${statement.kind} @${statement.name}`, code: 'declared-twice', at: statement.at }]
      : [],
  );
  for (const { what, code, at } of [...checkpoints, ...interceptors]) {
    const known = named.get(what);
    if (known === undefined) named.set(what, `${file.display}:${locate(file.text, at).line}`);
    else if (!known.startsWith(`${file.display}:`)) {
      const message = `${what} is already in ${known}: rename one, because these names are unique in a script and its modules`;
      found.push({ list: 'errors', code, file, violation: { at, message } });
    }
  }
}

async function linkImport(node: Import, file: ParsedScript, inside: readonly string[], linking: LinkState): Promise<void> {
  const { workspace } = linking;
  const { source, written } = node;
  if (source.kind === 'node') return;
  const named = await namedModule(source, workspace);
  if (named && 'message' in named) {
    const { message, hint, unsure } = named;
    if (!unsure) return report(linking, file, { at: source.at, message, ...(hint !== undefined && { hint }) });
    const remedy = `${message}: ${hint ?? ''}`;
    linking.found.push({ list: 'warnings', code: 'missing-module', file, violation: { at: source.at, message: remedy } });
    return;
  }
  const absolute = named?.absolute ?? pathOf(source, file, workspace);
  if (absolute === undefined) return;
  if (node.type === 'templates') return linkCollection(node, absolute, file, linking);
  const located = await locateModule(absolute, written.endsWith('/') ? 'slash' : 'name', workspace.files);
  if (located.kind === 'none') {
    return report(linking, file, {
      at: source.at,
      message: `Module ${written} does not exist`,
      hint: `mlld looked for ${workspace.display(absolute)}; ${pathRule(source.kind)}`,
    });
  }
  const exports =
    located.kind === 'directory'
      ? await linkDirectory(node, absolute, file, linking, (index) => moduleExports(node, index, file, inside, linking))
      : await moduleExports(node, located.absolute, file, inside, linking);
  bindNames(node, exports, file, linking);
  const whole = node.names || located.kind === 'directory' ? undefined : declarationOf(node, file);
  if (whole) linking.namespaces.set(whole, { exports, written });
}

function pathRule(kind: Import['source']['kind']): string {
  return kind === 'path' ? 'relative paths start at the folder of the file' : 'resolver prefixes are in mlld-config.json';
}

function declarationOf(node: Import, { symbols }: ParsedScript): Declaration | undefined {
  return symbols.declarations.find((declaration) => declaration.import === node);
}

async function moduleExports(
  node: Import,
  absolute: string,
  importer: ParsedScript,
  inside: readonly string[],
  linking: LinkState,
): Promise<Exports> {
  const { workspace, found, exports } = linking;
  const refuse = (message: string, hint?: string): Exports => {
    report(linking, importer, { at: node.source.at, message, ...(hint !== undefined && { hint }) });
    return UNKNOWN_EXPORTS;
  };
  if (inside.includes(absolute)) {
    const circle = [...inside.slice(inside.indexOf(absolute)), absolute].map(workspace.display).join(' imports ');
    return refuse(`Circular import: ${circle}`, 'move what both need into a third module');
  }
  const known = exports.get(absolute);
  if (known) return known;
  const name = path.basename(absolute).toLowerCase();
  if (/\.(att|mtt)$/.test(name)) return UNKNOWN_EXPORTS; // a rule reports it
  if (name.endsWith('.json')) return jsonExports(await workspace.files.readText(absolute), workspace.display(absolute), refuse);
  if (!/\.(mld|mlld|md)$/.test(name)) return { names: new Map(), complete: true, listed: false };
  const opened = await workspace.script(absolute);
  if (opened.kind === 'missing') return refuse(`Module ${node.written} can't be read`);
  if (opened.kind === 'broken') {
    exports.set(absolute, UNKNOWN_EXPORTS);
    const { file } = opened;
    for (const { at, message, hint } of file.failures)
      found.push({ list: 'errors', code: 'syntax', file, violation: { at, message, ...(hint !== undefined && { hint }) } });
    return refuse(`Module ${node.written} can't be imported: it has a syntax error`);
  }
  const { file } = opened;
  for (const finding of applyRules(file, workspace)) {
    // An undefined export is harmless in a script, but makes an import of the file fail.
    found.push(finding.code === exportedNamesRule.code ? { ...finding, list: 'errors' } : finding);
  }
  found.push(...(await checkNeedsOfModule(file, workspace)));
  return linkScript(file, inside, linking);
}

function jsonExports(text: string | undefined, display: string, refuse: (message: string, hint?: string) => Exports): Exports {
  try {
    const data: unknown = JSON.parse((text ?? '').replace(/^\uFEFF/, ''));
    const names = isObject(data) ? Object.keys(data) : ['content'];
    return { names: new Map(names.map((name) => [name, undefined])), complete: true, listed: false };
  } catch (error) {
    return refuse(`${display} is not valid JSON: ${(error as SyntaxError).message}`, 'an imported .json file is strict JSON');
  }
}

/** Checks each `@lib.member` of a module that is imported as a whole: its existence and its number of arguments. world.md 11.2. */
function checkMembers(file: ParsedScript, linking: LinkState): void {
  let isReached: ReturnType<typeof surelyExecuted> | undefined;
  for (const used of file.symbols.uses) {
    const { name, at, place, target, member } = used;
    if (isGlued(used, file.text)) continue;
    const namespace = target && linking.namespaces.get(target);
    if (!namespace || !member || member.name === '__meta__' || member.name === 'mx') continue;
    const { exports, written } = namespace;
    const exe = exports.names.get(member.name);
    if (exe) {
      for (const violation of surplusOf(exe, { ...member, name: `${name}.${member.name}`, at }))
        linking.found.push({ list: 'antiPatterns', code: 'surplus-arguments', file, violation });
    }
    // Without an export list a missing member is null, and ends the run only where it is called.
    const isRefused = exports.listed || (member.argumentsPassed !== undefined && !isMethod(member.name));
    if (place === 'test' || !isRefused || !exports.complete || exports.names.has(member.name)) continue;
    isReached ??= surelyExecuted(file.script);
    const list = isReached(at) ? 'errors' : 'antiPatterns';
    linking.found.push({ list, code: 'unresolvable', file, violation: notExported(member.name, at, exports, written) });
  }
}

function notExported(name: string, at: number, { names }: Exports, written: string): Violation {
  const near = closest(name, names.keys());
  const known = [...names.keys()].map((each) => `@${each}`).join(', ');
  const hint = near === undefined ? `it exports ${known || 'nothing'}` : `did you mean @${near}?`;
  return { at, message: `@${name} is not exported by ${written}`, hint };
}

function bindNames(node: Import, exports: Exports, file: ParsedScript, linking: LinkState): void {
  for (const { name, alias, at } of node.names ?? []) {
    const declaration = file.symbols.module.get(alias ?? name);
    const exe = exports.names.get(name);
    if (declaration && exe) linking.imported.set(declaration, exe);
    if (exports.names.has(name) || !exports.complete) continue;
    report(linking, file, notExported(name, at, exports, node.written));
  }
}
