/** Finds every place of a script where a name is written, with what it names. */
import type { Script } from '../../grammar/ast.js';
import type { ParsedScript } from '../validate/rule.js';
import type { Declaration, Use } from '../validate/static-scope.js';
import { topLevel } from '../validate/top-level.js';

export interface Mention {
  readonly name: string;
  /** Is the place of the name, without its at sign. */
  readonly from: number;
  readonly to: number;
  /** Is absent for a name that the file does not declare. */
  readonly declaration?: Declaration;
  readonly role: 'declares' | 'uses' | 'exports' | 'imports';
  /** Is the member of a module, as in `@lib.draw`: the declaration is that of the module. */
  readonly member?: string;
}

const NAME_CHARACTER = /[A-Za-z0-9_]/;
/** Names of a loop or a code block are looked for so far behind its beginning. */
const HEAD_CHARS_MAX = 400;

export function mentionsOf(file: ParsedScript): readonly Mention[] {
  const { symbols, text, script } = file;
  return [
    ...symbols.declarations.flatMap((declaration) => {
      const from = nameOffsetOf(declaration, file);
      return from === undefined ? [] : [mention(declaration.name, from, 'declares', declaration)];
    }),
    ...symbols.uses.flatMap((use) => useMentions(use, text)),
    ...statementMentions(script, file),
  ];
}

/** Returns the mention at a place; the at sign before the name and the end behind it belong to it. */
export function mentionAt(file: ParsedScript, at: number): Mention | undefined {
  return mentionsOf(file).find(({ from, to }) => from - 1 <= at && at <= to && (at >= from || file.text[from - 1] === '@'));
}

/** Returns where a declaration writes its name; undefined where it writes none, as an import without an alias. */
export function nameOffsetOf({ name, kind, at, import: imported }: Declaration, { text, symbols }: ParsedScript): number | undefined {
  if (kind === 'implicit') return undefined;
  if (kind === 'import' && !imported?.names && imported?.alias === undefined) return undefined;
  if (kind === 'loop') return nameAfter(text, at, name, '@');
  if (kind !== 'param') return nameAt(text, at, name);
  const owner = symbols.declarations.find((each) => each.kind === 'exe' && each.at === at);
  return owner && nameAfter(text, at + owner.name.length + 1, name, '');
}

function useMentions({ name, at, target, member }: Use, text: string): readonly Mention[] {
  const from = nameAt(text, at, name) ?? nameAfter(text, at, name, '@');
  if (from === undefined) return [];
  const found = mention(name, from, 'uses', target);
  const memberAt = member && text[found.to] === '.' ? nameAt(text, found.to + 1, member.name) : undefined;
  if (!member || memberAt === undefined) return [found];
  return [found, { ...mention(member.name, memberAt, 'uses', target), member: member.name }];
}

/** Lists the names in export lists, in the filters of hooks and guards, and those that an import gives another name. */
function statementMentions(script: Script, { symbols, text }: ParsedScript): readonly Mention[] {
  const named = (name: string, at: number, role: Mention['role'], alias = name): readonly Mention[] => {
    const from = nameAt(text, at, name);
    return from === undefined ? [] : [mention(name, from, role, symbols.module.get(alias))];
  };
  return topLevel(script).flatMap((statement) => {
    switch (statement.kind) {
      case 'export':
        return statement.names.flatMap(({ name, at }) => named(name, at, 'exports'));
      case 'hook':
      case 'guard': {
        const { filter } = statement;
        return filter.kind === 'function' ? named(filter.path[0] ?? '', filter.at, 'uses') : [];
      }
      case 'import':
        return (statement.names ?? []).flatMap(({ name, alias, at }) => (alias === undefined ? [] : named(name, at, 'imports', alias)));
      default:
        return [];
    }
  });
}

function mention(name: string, from: number, role: Mention['role'], declaration: Declaration | undefined): Mention {
  return { name, from, to: from + name.length, role, ...(declaration && { declaration }) };
}

/** Returns the offset of a name that is written at a place, behind its at sign. */
function nameAt(text: string, at: number, name: string): number | undefined {
  const from = text[at] === '@' ? at + 1 : at;
  return name !== '' && text.startsWith(name, from) && !NAME_CHARACTER.test(text[from + name.length] ?? '') ? from : undefined;
}

function nameAfter(text: string, at: number, name: string, sign: '@' | ''): number | undefined {
  const head = text.slice(at, at + HEAD_CHARS_MAX);
  const found = new RegExp(`(?<![\\w-])${sign}@?${name}(?![\\w]|-\\w)`).exec(head);
  return found ? at + found.index + found[0].length - name.length : undefined;
}
