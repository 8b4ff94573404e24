/** Explains mistakes in pipelines and in the code of other languages. */
import type { Language } from '../../ast.js';
import { runawayText, unclosedInCode } from '../../mlld/code-end.js';
import { builtIn, byIndentation, describe, fail, lineOf, look, otherOperator, skippedOpener, type ErrorContext } from './error-context.js';

export function stage(context: ErrorContext): false {
  const word = look(/([A-Za-z_][\w-]*)(?:\.[\w-]+)*/y, context)?.[0];
  if (!word) {
    if (look(/[[{@]/y, context)) return false;
    if (context.text[context.at - 1] === '|') otherOperator({ ...context, at: context.at - 1 });
    fail(context.at, `Expected a stage after \`|\`, found ${describe(context.text, context.at)}`, 'a stage is a function, as in `| @trim`');
  }
  if (/^(?:output|append|while|show|log|cmd|sh|bash|js|javascript|node|py|python|data)$/.test(word)) {
    if (word === 'output' && context.furthest <= context.at + word.length + 1)
      fail(context.at, '`output` as a stage needs a target', 'write `| output to "file"`');
    return false;
  }
  fail(
    context.at,
    `A stage needs an at sign: \`@${word}\``,
    builtIn.has(word.toLowerCase()) ? `write \`| @${word}\`` : `write \`| @${word}\` to call the function \`@${word}\``,
  );
}

export function whileCap(context: ErrorContext): never {
  fail(context.at, '`while` needs a cap', 'write `| while(10) @step`');
}

export function whileCall(context: ErrorContext): never {
  fail(context.at, '`while(CAP)` needs a function after it', 'write `| while(10) @step`');
}

/**
 * Points at a string or comment that swallows the rest, else at the innermost brace that the indentation of the lines below shows to be
 * unclosed, else at that of the block.
 */
export function unclosedCode(context: ErrorContext & { readonly opener: number; readonly language?: Language }): never {
  const { text, at, statementAt, language } = context;
  const word = look(/\/?[a-z]+/y, { text, at: statementAt })?.[0];
  const place = word ? ` in \`${word}\`` : '';
  const runaway = language && runawayText(text, context.opener + 1, language);
  if (runaway !== undefined) {
    const [what, closer] = unclosedText(text, runaway);
    fail(runaway, `Unclosed ${what} in the ${language} code${place}: expected ${closer}`, 'it swallows the `}` that closes the code');
  }
  const message = `Unclosed code block${place}: expected \`}\``;
  const skipped = language ? unclosedInCode(text, context.opener + 1, language) : skippedOpener(text, context.opener, '{', '}');
  if (skipped !== undefined) fail(skipped, message, byIndentation('}', lineOf(text, context.opener)));
  fail(context.opener, message, at < text.length ? 'braces and quotes in the code must balance' : undefined);
}

/** Returns what the string or comment is, and what closes it. */
function unclosedText(text: string, at: number): readonly [what: string, closer: string] {
  if (text[at] === '`') return ['template literal', 'a closing backtick'];
  if (text[at] === '/') return ['comment', '`*/`'];
  const quote = look(/"""|'''|"|'/y, { text, at })?.[0];
  return quote === undefined ? ['text', 'its end'] : ['string', `a closing \`${quote}\``];
}

/** Refuses an operator of the shell outside quotes in a `cmd` body. `rest` is the text from the operator on, if it is not the source. */
export function shellOperator(context: ErrorContext, rest?: string): false {
  const operator = /^(?:&&|\|\||>>|<<|[;&<>])/.exec(rest ?? context.text.slice(context.at, context.at + 2))?.[0];
  if (!operator) return false;
  fail(context.at, `\`${operator}\` is not allowed in a \`cmd\` body, which is one command line`, 'use `sh { … }` for shell scripts');
}
