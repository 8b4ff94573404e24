/** Builds statements, and checks rules about them that the grammar cannot express. */
import type {
  Block,
  Exe,
  Expression,
  For,
  Foreach,
  Guard,
  Import,
  LabelModifiers,
  Literal,
  Loop,
  Options,
  Param,
  Reference,
  ResumeMode,
  Script,
  Stage,
  Statement,
  Target,
  Template,
  TemplatePart,
  When,
} from '../../ast.js';
import { SyntaxFailure } from '../../errors.js';
import { unclosedByIndentation } from '../../mistakes/mlld/error-context.js';
import { checkExeOptions } from './exe-options.js';
import { parts } from './text.js';
import { type RawOption, value, isCall } from './expressions.js';

/** Checks that a return is the last statement of its block, which begins at `at`. */
export function statements(at: number, list: readonly Statement[], text: string): readonly Statement[] {
  if (list.length === 0) throw new SyntaxFailure('An empty block', { at, hint: 'a block needs at least one statement' });
  const early = list.slice(0, -1).findIndex(isReturn);
  if (early < 0) return list;
  const behind = list[early + 1] as Statement;
  unclosedByIndentation({ text, at: behind.at, bracketAt: at }, 'Unclosed block: expected `]`');
  throw new SyntaxFailure('A return (`=>`) must be the last statement of its block', {
    at: behind.at,
    hint: 'put the other statements before it, or return from inside an `if`',
  });
}

function isReturn(statement: Statement): boolean {
  return statement.kind === 'return' || (statement.kind === 'control' && statement.isReturn === true);
}

/** Checks that `none` follows all arms with a condition, and no `*`. */
export function arms(entries: When['entries']): When['entries'] {
  const first = entries.findIndex((entry) => entry.kind === 'arm' && entry.condition === 'none');
  const any = entries.findIndex((entry) => entry.kind === 'arm' && entry.condition === 'any');
  if (any >= 0 && first > any) {
    throw new SyntaxFailure('`none` behind `*` never matches', { at: entries[first]?.at ?? 0, hint: 'leave one of the two arms out' });
  }
  const behind = first < 0 ? undefined : entries.slice(first).find((entry) => entry.kind === 'arm' && typeof entry.condition !== 'string');
  if (!behind) return entries;
  throw new SyntaxFailure('`none` must be the last arm of a `when`', {
    at: entries[first]?.at ?? 0,
    hint: 'it matches when no other arm did',
  });
}

type Binding = { readonly key?: string; readonly name: string; readonly fields: readonly string[] };
type Body = Pick<For, 'filter' | 'body' | 'arms' | 'batch'>;

export function loopOver(at: number, parallel: For['parallel'] | null, binding: Binding, source: Expression, body: Body): For {
  return { kind: 'for', at, ...(parallel ? { parallel } : {}), ...binding, source, ...body };
}

export function foreach(at: number, call: Reference, batch: readonly Stage[] | null): Foreach {
  if (!isCall(call)) {
    throw new SyntaxFailure(`\`foreach\` needs a call with arrays, as in \`foreach @${call.name}(@list)\``, { at: call.at });
  }
  return { kind: 'foreach', at, call, ...(batch ? { batch } : {}) };
}

export function loop(at: number, header: Pick<Loop, 'limit' | 'pace'> | null, until: Expression | null, body: Block): Loop {
  const returned = body.statements.find(isReturn);
  if (returned) {
    throw new SyntaxFailure('A loop block has no return (`=>`)', { at: returned.at, hint: 'end the loop with a value by `done VALUE`' });
  }
  return { kind: 'loop', at, ...header, ...(until ? { until } : {}), body };
}

export function executable(
  at: number,
  labels: readonly string[],
  name: string,
  nameAt: number,
  params: readonly Param[],
  body: Expression,
  pipes: readonly Stage[],
  options: readonly RawOption[],
): Exe {
  checkExeOptions(options);
  const whole = value(body, pipes, options);
  if (whole.kind !== 'with') return { kind: 'exe', at, labels, name, nameAt, params, body: whole, options: [] };
  return { kind: 'exe', at, labels, name, nameAt, params, body: whole.value, options: whole.options };
}

type SourceText = { readonly source: Import['source']; readonly written: string };

export function imports(at: number, type: Import['type'] | null, { source, written }: SourceText, rest: Partial<Import>): Import {
  return { kind: 'import', at, ...(type ? { type } : {}), source, ...rest, written };
}

/** A quoted target: a file, or a place in the state. */
export function fileTarget(name: Template | Literal): Extract<Target, { path: readonly TemplatePart[] }> {
  const written = name.kind === 'template' ? name.parts : parts([String(name.value)]);
  const first = written[0];
  const scheme = 'state://';
  if (first?.kind !== 'text' || !first.text.startsWith(scheme)) return { kind: 'file', at: name.at, path: written };
  return { kind: 'state', at: name.at, path: parts([first.text.slice(scheme.length), ...written.slice(1)]) };
}

type GuardParts = Pick<Guard, 'timing' | 'filter' | 'rules'> & { readonly name: string | null; readonly privileged: boolean };

export function guard(at: number, { name, privileged, timing, filter, rules }: GuardParts, options: Options): Guard {
  const marked =
    privileged || options.some((option) => option.name === 'privileged' && option.value.kind === 'literal' && option.value.value === true);
  const changing = rules.find((rule) => rule.kind === 'rule' && rule.action.kind === 'allow' && rule.action.modifiers !== undefined);
  if (changing?.kind === 'rule' && !marked) {
    throw new SyntaxFailure('Only a privileged guard changes labels by `LABEL! VALUE` or `!LABEL VALUE`', {
      at: changing.action.at,
      hint: 'declare it as `guard privileged @name …`, or write `allow VALUE with { addLabels: [ … ] }`',
    });
  }
  return { kind: 'guard', at, ...(name ? { name } : {}), ...(marked ? { privileged: true } : {}), timing, filter, rules };
}

interface Modifier {
  readonly at: number;
  readonly label: string;
  readonly removes: boolean;
  /** Written with a mark behind it: `trusted!`. */
  readonly isWord: boolean;
}

/** `trusted!` replaces `untrusted`, `clear!` removes all labels. */
export function modifiers(list: readonly Modifier[]): LabelModifiers {
  const wrong = list.find(({ label, removes, isWord }) => isWord && (removes || (label !== 'trusted' && label !== 'clear')));
  if (wrong) {
    throw new SyntaxFailure(`\`${wrong.removes ? '!' : ''}${wrong.label}!\` does not change labels`, {
      at: wrong.at,
      hint: 'write `trusted!`, `clear!`, `!LABEL` to remove a label, or `LABEL` to add one',
    });
  }
  const add = list.filter(({ label, removes, isWord }) => !removes && !(isWord && label === 'clear')).map(({ label }) => label);
  if (list.some(({ label, isWord }) => isWord && label === 'clear')) return { add, remove: 'all' };
  const trusts = list.some(({ label, isWord }) => isWord && label === 'trusted');
  const removed = list.filter(({ removes }) => removes).map(({ label }) => label);
  return { add, remove: trusts ? ['untrusted', ...removed] : removed };
}

type HeaderPart =
  | { readonly name: 'resume'; readonly at: number; readonly value: ResumeMode }
  | { readonly name: 'budget'; readonly at: number; readonly value: string };

export function header(first: HeaderPart | null, rest: readonly HeaderPart[]): Pick<Script, 'resume' | 'budget'> {
  let head: Pick<Script, 'resume' | 'budget'> = {};
  for (const line of first ? [first, ...rest] : rest) {
    if (head[line.name] !== undefined)
      throw new SyntaxFailure(`A second \`${line.name}:\` in the header`, { at: line.at, hint: 'each line of a header is written once' });
    head = { ...head, ...(line.name === 'resume' ? { resume: line.value } : { budget: { at: line.at, value: line.value } }) };
  }
  return head;
}

/** Takes a line's value out of its quotes, if it has some. */
export function unquoted(text: string): string {
  const written = text.trim();
  return (/^(["'])(.*)\1$/.exec(written)?.[2] ?? written).trim();
}

export function script(
  mode: Script['mode'],
  head: Pick<Script, 'resume' | 'budget'>,
  frontmatter: Script['frontmatter'] | null,
  body: readonly Statement[],
): Script {
  return { kind: 'script', at: 0, mode, ...head, ...(frontmatter ? { frontmatter } : {}), statements: body };
}
