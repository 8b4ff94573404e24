/**
 * Offers what may be written at a place. The text up to there is completed by a name of our own and parsed, so that the scope of that name
 * is known; a statement that can't be parsed even then has the names of the file.
 */
import type { Expression } from '../../../grammar/ast.js';
import { statementWords, topLevelWords } from '../../../grammar/keywords.js';
import { EXE_OPTIONS } from '../../../grammar/mlld/build/exe-options.js';
import { reparsedAround } from '../../validate/reparse.js';
import type { ParsedScript } from '../../validate/rule.js';
import type { Declaration, Use } from '../../validate/static-scope.js';
import { symbolsOf } from '../../validate/symbols.js';
import { METADATA_FIELDS } from '../../values/metadata.js';
import { arrayMethods } from '../../values/methods/array-methods.js';
import { textMethods } from '../../values/methods/text-methods.js';
import { typeChecks } from '../../values/methods/type-checks.js';
import { RESERVED, TRANSFORMERS } from '../built-in-names.js';
import { CONTEXT_FIELDS } from './context-fields.js';
import { definitionOf } from '../definition.js';
import { exportedBy, importCompletionAt } from './imports.js';
import { suggestionFor, type Suggestion } from './suggestion.js';
import type { ProjectView } from '../project-view.js';
import { scriptOf } from '../readable-script.js';

/** Stands where the cursor is; no script has such a name. */
const CURSOR = 'mlld_cursor_';
const CALL_ONLY_OPTIONS = ['guards'];
const CLOSERS: { readonly [opener: string]: string } = { '(': ')', '[': ']', '{': '}' };

/** `at` is the place of the cursor in the text of the file. */
export async function completionAt(file: ParsedScript, at: number, view: ProjectView): Promise<readonly Suggestion[]> {
  const before = file.text.slice(file.text.lastIndexOf('\n', at - 1) + 1, at);
  if (/(?:^|\s)(?:>>|<<)/.test(before) || /^\s*#/.test(before)) return [];
  const imported = await importCompletionAt(file, at, view);
  if (imported) return imported;
  const chain = /@([A-Za-z_][\w-]*)((?:\.\w+|\[\d+\])*)\.\w*$/.exec(before);
  if (chain)
    return membersOf(
      chain[1] ?? '',
      (chain[2] ?? '').split(/[.[\]]+/).filter((part) => part !== ''),
      file,
      at,
      view,
    );
  if (/\{\{\s*\w*$/.test(before)) return namesIn(file, at, '');
  const stage = /\|\s*(\w*)$/.exec(before);
  if (/(?<![\w@\\])@[\w-]*$/.test(before) || (stage && !before.endsWith('||'))) return namesIn(file, at, stage === null ? '' : '@');
  if (/\bwith\s*\{[^{}]*$/.test(file.text.slice(Math.max(0, at - 2000), at)) && /[{,\n]\s*\w*$/.test(`\n${before}`)) return OPTIONS;
  if (/^\s*\/?[a-z]*$/.test(before)) return keywords(/^\s/.test(before));
  return [];
}

const OPTIONS: readonly Suggestion[] = [...EXE_OPTIONS, ...CALL_ONLY_OPTIONS].map((label) => ({ label, kind: 'option' }));

function keywords(isInside: boolean): readonly Suggestion[] {
  const onlyTop: readonly string[] = topLevelWords;
  return statementWords.filter((word) => !isInside || !onlyTop.includes(word)).map((label) => ({ label, kind: 'keyword' }));
}

/** `sign` is put before names where the text has no at sign yet. */
function namesIn(file: ParsedScript, at: number, sign: '' | '@'): readonly Suggestion[] {
  const names = [...declarationsAt(file, at).values()].map((declaration) => suggestionFor(declaration));
  const known = new Set(names.map(({ label }) => label));
  const builtIn = [
    ...Object.entries(TRANSFORMERS).map(([label, detail]): Suggestion => ({ label, kind: 'function', detail })),
    ...Object.entries(RESERVED).map(([label, detail]): Suggestion => ({ label, kind: 'variable', detail })),
  ];
  return [...names, ...builtIn.filter(({ label }) => !known.has(label))].map((each) => ({ ...each, label: sign + each.label }));
}

/** Returns the declarations that a name at the place could mean, by name. */
function declarationsAt(file: ParsedScript, at: number): ReadonlyMap<string, Declaration> {
  const use = useAt(file, at);
  const found = new Map<string, Declaration>();
  if (use) {
    const isLater = use.within !== undefined;
    for (const name of use.visible()) {
      const declaration = use.find(name);
      // Statements of the file see what is above them; bodies run later, and see all of it.
      const isAbove = declaration !== undefined && (declaration.at < at || (isLater && file.symbols.module.has(name)));
      if (isAbove && name !== CURSOR) found.set(name, declaration);
    }
    return found;
  }
  for (const declaration of file.symbols.module.values()) found.set(declaration.name, declaration);
  const around = file.symbols.declarations.findLast((each) => each.kind === 'exe' && each.at < at)?.exe;
  for (const { name } of around?.params ?? []) found.set(name, { name, kind: 'param', at: around?.nameAt ?? 0, made: 'always' });
  return found;
}

/** Parses the text with a name of our own at the place: as it is, or with the rest of the line left out and brackets closed. */
function useAt(file: ParsedScript, at: number): Use | undefined {
  const { text, absolute, display } = file;
  const from = at - (/@?[\w-]*$/.exec(text.slice(0, at))?.[0].length ?? 0);
  const to = at + (/^[\w-]*/.exec(text.slice(at))?.[0].length ?? 0);
  const lineEnd = text.indexOf('\n', at) < 0 ? text.length : text.indexOf('\n', at);
  const opened = openedBefore(text.slice(text.lastIndexOf('\n', at - 1) + 1, from));
  const attempts = [
    `${text.slice(0, from)}@${CURSOR}${text.slice(to)}`,
    `${text.slice(0, from)}@${CURSOR}${opened}${text.slice(lineEnd)}`,
    `${text.slice(0, from)}@${CURSOR}${text.slice(at, to)}${text.slice(to, lineEnd)}${opened}${text.slice(lineEnd)}`,
  ];
  for (const attempt of attempts) {
    // A broken statement has no scope. The whole of a long script would take too long to parse while somebody types.
    const script = file.script.mode === 'strict' ? reparsedAround(file, attempt)?.script : scriptOf(attempt, absolute, display).script;
    const use = script && symbolsOf(script).uses.find(({ name }) => name === CURSOR);
    if (use) return use;
  }
  return undefined;
}

/** Returns what closes the quotes and brackets that are open at the end of a line. */
function openedBefore(line: string): string {
  const open: string[] = [];
  for (const character of line) {
    const last = open.at(-1);
    if (last === character) open.pop();
    else if (last === '"' || last === '`') continue;
    else if (character === '"' || character === '`') open.push(character);
    else if (CLOSERS[character] !== undefined) open.push(CLOSERS[character]);
  }
  return open.toReversed().join('');
}

async function membersOf(
  name: string,
  fields: readonly string[],
  file: ParsedScript,
  at: number,
  view: ProjectView,
): Promise<readonly Suggestion[]> {
  if (name === 'mx') return contextFields(fields);
  if (fields.at(-1) === 'mx') return METADATA_FIELDS.map((label) => ({ label, kind: 'field' }));
  const declaration = declarationsAt(file, at).get(name);
  const namespace = declaration?.import && !declaration.import.names ? declaration : undefined;
  if (namespace && fields.length === 0) return exportedBy(namespace, file, view);
  const found = declaration && (await definitionOf({ name, from: at, to: at, role: 'uses', declaration }, file, view));
  let value = found?.declaration.value;
  for (const field of fields) value = memberOf(value, field);
  const keys =
    value?.kind === 'object'
      ? value.entries.flatMap((entry): Suggestion[] => ('key' in entry ? [{ label: entry.key, kind: 'field' }] : []))
      : [];
  return [...keys, ...methodsOf(value), { label: 'mx', kind: 'field', detail: 'metadata' }];
}

/** Values of a run, such as the arguments of a call, have fields that nobody knows before. */
function contextFields([field, ...further]: readonly string[]): readonly Suggestion[] {
  if (field === undefined) return Object.entries(CONTEXT_FIELDS).map(([label, { detail }]) => ({ label, kind: 'field', detail }));
  const known = Object.hasOwn(CONTEXT_FIELDS, field) ? CONTEXT_FIELDS[field]?.fields : undefined;
  return further.length > 0 ? [] : (known ?? []).map((label) => ({ label, kind: 'field' }));
}

function memberOf(value: Expression | undefined, field: string): Expression | undefined {
  if (value?.kind === 'array') return value.elements[Number(field)]?.value;
  const entry = value?.kind === 'object' ? value.entries.find((each) => 'key' in each && each.key === field) : undefined;
  return entry && 'key' in entry ? entry.value : undefined;
}

/** A value whose kind is not known before a run has the methods of all kinds. */
function methodsOf(value: Expression | undefined): readonly Suggestion[] {
  const isText = value?.kind === 'template' || (value?.kind === 'literal' && typeof value.value === 'string');
  const own = isText
    ? [textMethods]
    : value?.kind === 'array'
      ? [arrayMethods]
      : value?.kind === 'object' || value?.kind === 'literal'
        ? []
        : [textMethods, arrayMethods];
  const names = new Set([...own, typeChecks].flatMap((methods) => Object.keys(methods)));
  return [...names].map((label) => ({ label, kind: 'method', detail: '()' }));
}
