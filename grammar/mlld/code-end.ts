/** Finds the end of code in another language by a scanner per language that knows its strings and comments. */
import type { Language } from '../ast.js';

/** Returns the offset of the brace that closes the code beginning at `from`, or -1. Braces in strings and comments do not count. */
export function codeEnd(text: string, from: number, language: Language): number {
  const skip = skipIn(language);
  let depth = 1;
  for (let i = from; i < text.length;) {
    const c = text[i];
    if (c === '{') depth++;
    else if (c === '}' && --depth === 0) return i;
    const next = skip(text, i, from);
    if (next < 0) return -1;
    i = Math.max(next, i + 1);
  }
  return -1;
}

/**
 * Returns the offset of the first string or comment in code beginning at `from` that never ends, or that goes on behind a line which
 * closes the code by its indentation. Undefined when there is none.
 */
export function runawayText(text: string, from: number, language: Language): number | undefined {
  const skip = skipIn(language);
  const indent = /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', from - 1) + 1, from))?.[0] ?? '';
  for (let i = from; i < text.length;) {
    const next = skip(text, i, from);
    if (next < 0 || text.slice(i, next).includes(`\n${indent}}`)) return i;
    i = Math.max(next, i + 1);
  }
  return undefined;
}

const CLOSERS: { readonly [opener: string]: string } = { '(': ')', '[': ']', '{': '}' };

/**
 * Returns the offset of the first bracket in the code beginning at `from` that another kind of bracket closes, or one that begins a line
 * further to the left. Undefined when there is none. In the shell only braces count, because its `case` has parentheses that nothing opens.
 */
export function unclosedInCode(text: string, from: number, language: Language): number | undefined {
  const skip = skipIn(language);
  const openers = language === 'sh' || language === 'bash' ? '{' : '([{';
  const open: number[] = [];
  for (let i = from; i < text.length;) {
    const c = text[i] as string;
    if (openers.includes(c)) open.push(i);
    else if (Object.values(CLOSERS).includes(c) && openers.includes(openerOf(c))) {
      const opener = open.pop();
      if (opener === undefined) return undefined;
      if (CLOSERS[text[opener] as string] !== c || isFurtherLeft(text, i, opener)) return opener;
    }
    const next = skip(text, i, from);
    if (next < 0) return undefined;
    i = Math.max(next, i + 1);
  }
  return undefined;
}

function openerOf(closer: string): string {
  return Object.keys(CLOSERS).find((opener) => CLOSERS[opener] === closer) as string;
}

/** True where the bracket at `closer` begins its line, and does so further to the left than the line of `opener`. */
function isFurtherLeft(text: string, closer: number, opener: number): boolean {
  const before = text.slice(text.lastIndexOf('\n', closer - 1) + 1, closer);
  const indent = /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', opener - 1) + 1, opener))?.[0] ?? '';
  return before.trim() === '' && before.length < indent.length;
}

function skipIn(language: Language): Skip {
  if (language === 'js' || language === 'node') return skipScript;
  return language === 'py' ? skipPython : skipShell;
}

/** Returns the offset behind a string, comment or the like that begins at `i`, or -1 if it never ends. Else returns `i`. */
type Skip = (text: string, i: number, from: number) => number;

const skipScript: Skip = (text, i, from) => {
  switch (text[i]) {
    case '"':
      return quoted(text, i, '"', 'line');
    case "'":
      return quoted(text, i, "'", 'line');
    case '`':
      return templateLiteral(text, i);
    case '/':
      if (text[i + 1] === '/') return commentEnd(text, i, from);
      if (text[i + 1] === '*') return after(text, '*/', i + 2);
      return beginsRegex(text, i, from) ? regexEnd(text, i) : i;
    default:
      return i;
  }
};

const skipPython: Skip = (text, i, from) => {
  const c = text[i];
  if (c === '#') return commentEnd(text, i, from);
  if (c !== '"' && c !== "'") return i;
  return text.startsWith(c.repeat(3), i) ? quoted(text, i + 2, c.repeat(3), 'lines') : quoted(text, i, c, 'line');
};

const skipShell: Skip = (text, i, from) => {
  switch (text[i]) {
    case '\\':
      return i + 2;
    case "'": {
      if (text[i - 1] === '$') return quoted(text, i, "'", 'lines');
      return after(text, "'", i + 1);
    }
    case '"':
      return shellString(text, i);
    case '#':
      return i === from || /[\s;&|(]/.test(text[i - 1] ?? '') ? commentEnd(text, i, from) : i;
    case '<':
      return hereDocument(text, i);
    default:
      return i;
  }
};

function quoted(text: string, open: number, quote: string, span: 'line' | 'lines'): number {
  for (let i = open + 1; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text.startsWith(quote, i)) return i + quote.length;
    else if (text[i] === '\n' && span === 'line') return i; // not checked here: the other language will report it
  }
  return -1;
}

function templateLiteral(text: string, open: number): number {
  for (let i = open + 1; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '`') return i + 1;
    else if (text[i] === '$' && text[i + 1] === '{') {
      i = codeEnd(text, i + 2, 'js');
      if (i < 0) return -1;
    }
  }
  return -1;
}

/** True where a value is expected, that is not behind a value: there a slash begins a regular expression. */
function beginsRegex(text: string, at: number, from: number): boolean {
  let i = at - 1;
  while (i >= from && /\s/.test(text[i] as string)) i--;
  if (i < from) return true;
  if (/[\w$]/.test(text[i] as string))
    return /(?:^|[^\w$.])(?:return|typeof|case|in|of|delete|void|throw|new|await|yield|else|do)$/.test(
      text.slice(Math.max(from, i - 12), i + 1),
    );
  return !/[)\]}"'`]/.test(text[i] as string);
}

function regexEnd(text: string, open: number): number {
  let inClass = false;
  for (let i = open + 1; i < text.length && text[i] !== '\n'; i++) {
    const c = text[i];
    if (c === '\\') i++;
    else if (c === '[') inClass = true;
    else if (c === ']') inClass = false;
    else if (c === '/' && !inClass) return i + 1;
  }
  return open; // a division after all
}

/** Passes over a double-quoted string of the shell, with the commands that it may hold. */
function shellString(text: string, open: number): number {
  for (let i = open + 1; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '"') return i + 1;
    else if (text[i] === '$' && (text[i + 1] === '(' || text[i + 1] === '{')) {
      i = expansionEnd(text, i + 1);
      if (i < 0) return -1;
    }
  }
  return -1;
}

/** Returns the offset of the bracket that closes the one at `open`, in `$(…)` or `${…}`. */
function expansionEnd(text: string, open: number): number {
  const [opening, closing] = text[open] === '(' ? ['(', ')'] : ['{', '}'];
  let depth = 0;
  for (let i = open; i < text.length;) {
    if (text[i] === opening) depth++;
    else if (text[i] === closing && --depth === 0) return i;
    const next = skipShell(text, i, open);
    if (next < 0) return -1;
    i = Math.max(next, i + 1);
  }
  return -1;
}

/** Passes over `<<EOF` up to the line that ends it. Other uses of `<` are ignored. */
function hereDocument(text: string, at: number): number {
  const head = matchAt(/<<(-?)[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([A-Za-z_]\w*))[^\n]*\n/y, text, at);
  if (!head || text[at - 1] === '<') return at;
  const word = (head[2] ?? head[3] ?? head[4] ?? '').replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const end = new RegExp(`^${head[1] ? '\\t*' : ''}${word}[ \\t]*\\r?$`, 'gm');
  end.lastIndex = at + head[0].length;
  return end.test(text) ? end.lastIndex : at + 2;
}

/** A comment ends with its line. In code of a single line the closing brace ends it, or `sh { ls # all }` would never close. */
function commentEnd(text: string, at: number, from: number): number {
  const end = lineEnd(text, at);
  const brace = text.slice(from, at).includes('\n') ? -1 : text.slice(at, end).lastIndexOf('}');
  return brace < 0 ? end : at + brace;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

function after(text: string, end: string, from: number): number {
  const found = text.indexOf(end, from);
  return found < 0 ? -1 : found + end.length;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
