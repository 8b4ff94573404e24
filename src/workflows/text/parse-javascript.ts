/** Parses JavaScript, without running any. Wraps `acorn`, which is loaded when a text is read first. */
import type { AnyNode, Expression, Options, Program } from 'acorn';

export type { AnyNode, Expression, SpreadElement } from 'acorn';

const OPTIONS: Options = { ecmaVersion: 'latest', sourceType: 'script' };

/** A text that is not JavaScript. `at` is the offset into the text. */
export class JavaScriptError extends Error {
  constructor(
    message: string,
    readonly at: number,
    cause: unknown,
  ) {
    super(message, { cause });
    this.name = 'JavaScriptError';
  }
}

export interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Returns the first words and marks of a text, without comments; fewer than `count` where the text ends, or can't be read on. */
export async function firstWords(text: string, count: number): Promise<readonly Word[]> {
  const { tokenizer } = await import('acorn');
  const words: Word[] = [];
  try {
    for (const { start, end } of tokenizer(text, { ...OPTIONS, sourceType: 'module' })) {
      words.push({ text: text.slice(start, end), start, end });
      if (words.length === count) break;
    }
  } catch {
    return words; // the parser says where and why
  }
  return words;
}

/** Throws JavaScriptError. */
export async function parseExpression(text: string, at: number): Promise<Expression> {
  const { parseExpressionAt } = await import('acorn');
  return parsed(() => parseExpressionAt(text, at, { ...OPTIONS, sourceType: 'module' }));
}

/** Throws JavaScriptError. The text is read by the rules of a script, exactly as the engine compiles it. */
export async function parseProgram(text: string): Promise<Program> {
  const { parse } = await import('acorn');
  return parsed(() => parse(text, OPTIONS));
}

function parsed<N>(read: () => N): N {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const { pos = 0 } = error as SyntaxError & { readonly pos?: number };
    throw new JavaScriptError(error.message.replace(/ \(\d+:\d+\)$/, ''), pos, error);
  }
}

/** Calls `visit` with every node of a tree, outer ones first. */
export function walk(root: AnyNode, visit: (node: AnyNode) => void): void {
  const open: AnyNode[] = [root];
  for (let node = open.pop(); node; node = open.pop()) {
    visit(node);
    const inner = Object.values(node).flatMap((member: unknown) => (Array.isArray(member) ? (member as readonly unknown[]) : [member]));
    for (const each of inner.toReversed()) if (isNode(each)) open.push(each);
  }
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && typeof (value as { readonly type?: unknown }).type === 'string';
}
