/**
 * Reads the text of a `cmd` as POSIX shells read it, with what bash adds where it changes what a value means (arithmetic, `[[ ]]`, `<<<`),
 * and finds the place of each reference.
 */
import type { HolePart } from '../../ast.js';

/** The members of a hole that depend on its place in the text of the shell. */
export type ShellPlace = Required<Pick<HolePart, 'quoting'>> & Pick<HolePart, 'backquotes' | 'dollar'>;
type Quoting = ShellPlace['quoting'];

export interface FlatText {
  text: string;
  readonly holes: Map<number, HolePart>;
}

export interface FoundPlaces {
  readonly places: Map<HolePart, ShellPlace>;
  readonly onOperator: ((rest: string) => void) | undefined;
}

/** Replaces a reference in the text. The same character of the source is not mistaken for one, because `holes` does not have its place. */
export const HOLE = '\uFFFF';

/** The role of the next word of a command. Values are split where it is a command or an argument. */
type Next = 'command' | 'argument' | 'target' | 'case-word' | 'case-in' | 'pattern';

const COMMAND_FOLLOWS = new Set(['if', 'then', 'else', 'elif', 'do', 'while', 'until', '!', '{', '}', 'time', 'fi', 'done', 'esac']);

export class ShellReader {
  private at = 0;
  private documents: { readonly word: string; readonly isQuoted: boolean; readonly hasTabs: boolean }[] = [];
  /** Values up to this offset are used in arithmetic. */
  private numbersUntil = 0;
  /** Values up to this offset are not split, because they are in `[[ ]]`. */
  private wordsUntil = 0;

  constructor(
    private readonly flat: FlatText,
    private readonly found: FoundPlaces,
    private readonly inside: { readonly backquotes: number; readonly substitution: boolean } = { backquotes: 0, substitution: false },
  ) {}

  /** Reads commands up to what ends them, which is left to the caller. */
  commands(end: ')' | 'end'): void {
    const { text } = this.flat;
    let next: Next = 'command';
    let behindTarget: Next = next;
    let cases = 0;
    while (this.at < text.length) {
      const c = text[this.at] as string;
      if (c === ')' && next !== 'pattern' && end === ')') return;
      if (c === ' ' || c === '\t') this.at++;
      else if (c === '\\' && text[this.at + 1] === '\n') this.at += 2;
      else if (c === '#') this.comment();
      else if (c === '<' || c === '>') {
        this.operator();
        if (next !== 'target') behindTarget = next;
        next = this.redirection() ? next : 'target';
      } else if (c === '\n' || c === ';' || c === '&' || c === '|' || c === ')') {
        if (c !== '\n' && c !== ')') this.operator();
        const startsPattern = cases > 0 && c === ';' && text[this.at + 1] === ';';
        this.at += startsPattern ? 2 : 1;
        if (c === '\n') this.hereDocuments();
        if (startsPattern) next = 'pattern';
        else if (next !== 'pattern' || c === ')') next = 'command';
      } else if (c === '(') {
        if (next === 'pattern') this.at++;
        else if (text[this.at - 1] === '=') this.elements();
        else if (this.isArithmetic(this.at)) this.arithmetic(this.at, ')');
        else this.group('subshell');
      } else {
        const word = this.word(next);
        if (word === 'case' && next === 'command') cases++;
        else if (word === 'esac' && (next === 'command' || next === 'pattern')) cases--;
        next = next === 'target' ? behindTarget : following(next, word);
      }
    }
  }

  private operator(): void {
    if (!this.inside.substitution) this.found.onOperator?.(this.flat.text.slice(this.at));
  }

  private group(kind: 'subshell' | 'substitution'): void {
    const inner = new ShellReader(this.flat, this.found, kind === 'subshell' ? this.inside : { ...this.inside, substitution: true });
    inner.numbersUntil = this.numbersUntil; // the output of a substitution is computed with, too
    if (kind === 'subshell') inner.wordsUntil = this.wordsUntil;
    inner.at = this.at + 1;
    inner.commands(')');
    this.at = inner.at + 1;
  }

  /** Its quotes mean nothing, and nothing in it is expanded. */
  private comment(): void {
    const end = this.flat.text.indexOf('\n', this.at);
    this.at = end < 0 ? this.flat.text.length : end;
  }

  /** @returns whether it is a here-document, which has no target */
  private redirection(): boolean {
    const { text } = this.flat;
    const document = matchAt(/<<(-?)(?!<)[ \t]*((?:\\.|'[^'\n]*'|"[^"\n]*"|[^\s;&|()<>'"\\])+)/y, text, this.at);
    if (document) {
      const [all, dash, word = ''] = document;
      this.documents.push({ word: word.replace(/['"\\]/g, ''), isQuoted: /['"\\]/.test(word), hasTabs: dash === '-' });
      this.at += all.length;
      return true;
    }
    this.at += matchAt(/<<<|>>|>&|<&|>\||<>|[<>](?=\()|[<>]/y, text, this.at)?.[0].length ?? 1;
    return false;
  }

  /** The bodies of the here-documents whose line has ended. */
  private hereDocuments(): void {
    const { text } = this.flat;
    for (const { word, isQuoted, hasTabs } of this.documents.splice(0)) {
      let end = this.at;
      for (;;) {
        const lineEnd = text.indexOf('\n', end);
        const line = text.slice(end, lineEnd < 0 ? text.length : lineEnd);
        if (lineEnd < 0 || (hasTabs ? line.replace(/^\t+/, '') : line) === word) break;
        end = lineEnd + 1;
      }
      while (!isQuoted && this.at < end) this.quoted('document');
      const lineEnd = text.indexOf('\n', end);
      this.at = lineEnd < 0 ? text.length : lineEnd + 1;
    }
  }

  /** @returns the text of the word, as it is written */
  private word(next: Next): string {
    const { text } = this.flat;
    const from = this.at;
    if (next === 'command') this.beginTest();
    const [name = '', bracket] = (next === 'command' && matchAt(/[A-Za-z_]\w*(\[)?/y, text, from)) || [];
    if (bracket !== undefined) {
      this.at += name.length - 1;
      this.index();
    }
    const assignment = name === '' ? null : matchAt(/\+?=/y, text, bracket === undefined ? from + name.length : this.at);
    const isWhole = assignment !== null || (next !== 'command' && next !== 'argument');
    while (this.at < text.length && !/[ \t\n;&|()<>]/.test(text[this.at] as string)) this.piece(isWhole ? 'word' : 'bare');
    return assignment ? ASSIGNMENT : text.slice(from, this.at);
  }

  /** The list of `a=(x [1]=y)`. */
  private elements(): void {
    const { text } = this.flat;
    this.at++;
    while (this.at < text.length && text[this.at] !== ')') {
      if (/\s/.test(text[this.at] as string)) this.at++;
      else if (text[this.at] === '#') this.comment();
      else {
        if (text[this.at] === '[') this.index();
        const piece = text[this.at] === '=' || text[this.at] === '+' ? 'word' : 'bare';
        this.at += /[&;<>|(]/.test(text[this.at] ?? '') ? 1 : 0; // no list has them
        while (this.at < text.length && !/[\s&;<>|()]/.test(text[this.at] as string)) this.piece(piece);
      }
    }
    this.at++;
  }

  /** bash computes it, and looks for expansions in the index of a list once more. */
  private index(): void {
    const { text } = this.flat;
    const { numbersUntil } = this;
    this.numbersUntil = Number.POSITIVE_INFINITY;
    for (let depth = 0; this.at < text.length;) {
      const c = text[this.at];
      this.piece('word');
      if (c === '[') depth++;
      else if (c === ']' && --depth === 0) break;
    }
    this.numbersUntil = numbersUntil;
  }

  /** Reads a piece of a word: a character, or something in quotes, or an expansion. */
  private piece(given: 'word' | 'bare'): void {
    const quoting = this.at < this.wordsUntil ? 'word' : given;
    switch (this.flat.text[this.at]) {
      case "'":
        this.singleQuoted();
        break;
      case '"':
        this.doubleQuoted();
        break;
      default:
        this.quoted(quoting);
    }
  }

  /** Reads a character or an expansion where quotes have no meaning, or were handled already. */
  private quoted(quoting: Quoting): void {
    switch (this.flat.text[this.at]) {
      case HOLE:
        this.hole(quoting);
        break;
      case '\\':
        this.at += 2;
        break;
      case '$':
        this.dollar(quoting);
        break;
      case '`':
        this.backquoted(quoting === 'double' ? 'inside double quotes' : 'outside double quotes');
        break;
      default:
        this.at++;
    }
  }

  private hole(given: Quoting, dollar?: true): void {
    const part = this.flat.holes.get(this.at);
    if (part) {
      const quoting = this.at < this.numbersUntil ? 'number' : given;
      const { backquotes } = this.inside;
      this.found.places.set(part, { quoting, ...(backquotes > 0 ? { backquotes } : {}), ...(dollar ? { dollar } : {}) });
    }
    this.at++;
  }

  private singleQuoted(): void {
    const end = this.flat.text.indexOf("'", this.at + 1);
    this.at = end < 0 ? this.flat.text.length : end + 1;
  }

  private doubleQuoted(): void {
    const { text } = this.flat;
    this.at++;
    while (this.at < text.length && text[this.at] !== '"') this.quoted('double');
    this.at++;
  }

  private dollar(quoting: Quoting): void {
    const { text } = this.flat;
    const next = text[this.at + 1] ?? '';
    if (next === HOLE && this.flat.holes.has(this.at + 1)) {
      this.at++;
      this.hole(quoting, true);
    } else if (next === '(' && this.isArithmetic(this.at + 1)) this.arithmetic(this.at + 1, ')');
    else if (next === '[') this.arithmetic(this.at + 1, ']');
    else if (next === '(') {
      this.at++;
      this.group('substitution');
    } else if (next === '{') this.parameter(quoting);
    else if (next === "'" && (quoting === 'bare' || quoting === 'word'))
      this.at += matchAt(/\$'(?:[^\\']|\\[^])*'?/y, text, this.at)?.[0].length ?? 2;
    else this.at += /[$#?!*@-]/.test(next) ? 2 : 1;
  }

  /** Reads `${name…}`: a word follows an operator of the standard, everything else bash may compute. */
  private parameter(quoting: Quoting): void {
    const { text } = this.flat;
    const [head, operator] = matchAt(/\$\{(?:[A-Za-z_]\w*|\d+|[@*#?$!-](?!\}))(:?[-=?+]|##?|%%?)?/y, text, this.at) ?? ['${'];
    this.at += head.length;
    if (operator === undefined) {
      const end = text.indexOf('}', this.at);
      this.at = end < 0 ? text.length : end + 1;
      return;
    }
    const isPattern = /[#%]/.test(operator);
    const isQuoted = quoting !== 'bare' && quoting !== 'word';
    const inside: Quoting = !isQuoted ? (isPattern ? 'word' : quoting) : isPattern ? 'pattern' : 'parameter';
    while (this.at < text.length && text[this.at] !== '}') {
      if (text[this.at] === '"') this.doubleQuoted();
      else if (text[this.at] === "'" && (isPattern || !isQuoted)) this.singleQuoted();
      else this.quoted(this.at < this.wordsUntil && inside === 'bare' ? 'word' : inside);
    }
    this.at++;
  }

  /** The shell takes what is between backquotes apart before it reads it: a backslash less before each of these. */
  private backquoted(where: 'inside double quotes' | 'outside double quotes'): void {
    const { text, holes } = this.flat;
    const inner: FlatText = { text: '', holes: new Map() };
    const escaped = where === 'inside double quotes' ? /[\\$`"]/ : /[\\$`]/;
    for (this.at++; this.at < text.length && text[this.at] !== '`'; this.at++) {
      if (text[this.at] === '\\' && escaped.test(text[this.at + 1] ?? '')) this.at++;
      const hole = holes.get(this.at);
      if (hole) inner.holes.set(inner.text.length, hole);
      inner.text += text[this.at];
    }
    this.at++;
    const reader = new ShellReader(inner, this.found, { backquotes: this.inside.backquotes + 1, substitution: true });
    if (this.at <= this.numbersUntil) reader.numbersUntil = Number.POSITIVE_INFINITY;
    reader.commands('end');
  }

  private isArithmetic(open: number): boolean {
    const { text } = this.flat;
    if (text[open + 1] !== '(') return false;
    return text[closing(text, open + 1) + 1] === ')';
  }

  private arithmetic(open: number, end: ')' | ']'): void {
    const until = end === ')' ? closing(this.flat.text, open) : closing(this.flat.text, open, '[', ']');
    this.numbersUntil = Math.max(this.numbersUntil, until);
    this.at = open + 1;
    while (this.at < until) this.quoted('word');
    this.at++;
  }

  /** bash computes both sides of a comparison of numbers, quoted or not. */
  private beginTest(): void {
    const [whole] = matchAt(/\[\[\s[^]*?\s\]\](?=[\s;&|)]|$)/y, this.flat.text, this.at) ?? [];
    if (whole === undefined) return;
    this.wordsUntil = this.at + whole.length;
    if (/\s-(?:eq|ne|l[te]|g[te]|[vRo])\s/.test(whole.replaceAll('\\\n', '')))
      this.numbersUntil = Math.max(this.numbersUntil, this.wordsUntil);
  }
}

const ASSIGNMENT = '=';

function following(next: Next, word: string): Next {
  switch (next) {
    case 'command':
      if (word === 'case') return 'case-word';
      return word === ASSIGNMENT || COMMAND_FOLLOWS.has(word) ? 'command' : 'argument';
    case 'case-word':
      return 'case-in';
    case 'case-in':
      return 'pattern';
    case 'pattern':
      return word === 'esac' ? 'command' : 'pattern';
    default:
      return 'argument';
  }
}

/** Returns the bracket that closes the one at `open`; the end of the text when there is none. */
function closing(text: string, open: number, opening = '(', end = ')'): number {
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === opening) depth++;
    else if (text[i] === end && --depth === 0) return i;
  }
  return text.length;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
