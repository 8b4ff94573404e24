/** Builds text with holes: templates, paths, prose. */
import type { CallStage, HolePart, Prose, Reference, Statement, Step, Template, TemplatePart } from '../../ast.js';

export type Loose = string | TemplatePart | readonly Loose[];
export interface TextRef {
  readonly at: number;
  readonly value: Reference;
  readonly pipes: readonly CallStage[];
  readonly negated?: boolean;
  readonly written: string;
}

/** Joins neighbouring characters to one text part each. */
export function parts(loose: readonly Loose[]): TemplatePart[] {
  const joined: TemplatePart[] = [];
  let text = '';
  const flush = () => {
    if (text) joined.push({ kind: 'text', text });
    text = '';
  };
  const add = (part: Loose) => {
    if (typeof part === 'string') text += part;
    else if (isList(part)) for (const inner of part) add(inner);
    else if (part.kind === 'text') text += part.text;
    else {
      flush();
      joined.push(part);
    }
  };
  for (const part of loose) add(part);
  flush();
  return joined;
}

function isList(part: Loose): part is readonly Loose[] {
  return Array.isArray(part);
}

export function template(at: number, quote: Template['quote'], loose: readonly Loose[]): Template {
  return { kind: 'template', at, quote, parts: parts(loose) };
}

export function control(letter: string): string {
  return { n: '\n', t: '\t', r: '\r', 0: '\0' }[letter] ?? letter;
}

/** Replaces the escapes of a backtick template in a text that holds no references. */
export function unescaped(text: string): string {
  return text.replace(/\\([ntr0\\"'`[\]{}$.@])|@@/g, (_, escaped?: string) => (escaped === undefined ? '@' : control(escaped)));
}

/** Replaces the escapes of a colon template or template file in a text that holds no references. */
export function withAtSigns(text: string): string {
  return text.replace(/\\@|@@/g, '@');
}

export function hole(ref: TextRef, mark: Pick<HolePart, 'optional' | 'then' | 'fallback'>): HolePart {
  const { at, value, pipes, negated, written } = ref;
  return { kind: 'hole', at, value, pipes, ...(negated ? { negated: true } : {}), ...mark, written };
}

/** Builds a reference in a path; the backslash that ended it is not part of it. */
export function pathHole(at: number, name: string, steps: readonly Step[], text: string): HolePart {
  return { kind: 'hole', at, value: { kind: 'reference', at, name, steps }, pipes: [], written: text.replace(/\\$/, '') };
}

/** Builds a hole without its place in the shell's text, which `shell-places.ts` adds when the whole text is known. */
export function commandHole(ref: TextRef): HolePart {
  return { kind: 'hole', at: ref.value.at, value: ref.value, pipes: [], written: ref.written };
}

/** Builds `` @x?`part` `` of a command: the part is a piece of the command. */
export function conditionalHole(ref: TextRef, part: readonly Loose[]): HolePart {
  const { written, ...hole } = commandHole(ref);
  return { ...hole, then: parts(part), written }; // oxlint-disable-line unicorn/no-thenable -- a node, never awaited
}

/** Returns the parts of a path, without the blanks around an unquoted one. */
export function path(loose: readonly Loose[]): TemplatePart[] {
  const joined = parts(loose);
  const first = joined[0];
  if (first?.kind === 'text') joined[0] = { kind: 'text', text: first.text.trimStart() };
  const last = joined.at(-1);
  if (last?.kind === 'text') joined[joined.length - 1] = { kind: 'text', text: last.text.trimEnd() };
  return joined.filter((part) => part.kind !== 'text' || part.text !== '');
}

export function prose(items: readonly (Statement | null)[]): Statement[] {
  const joined: Statement[] = [];
  for (const item of items) {
    const last = joined.at(-1);
    if (item?.kind === 'prose' && last?.kind === 'prose') joined[joined.length - 1] = merge(last, item);
    else if (item) joined.push(item);
  }
  return joined;
}

function merge(first: Prose, second: Prose): Prose {
  return { kind: 'prose', at: first.at, text: first.text + second.text };
}
