/** Slips in pipelines and in the code of other languages. */
import { builtIn, unclosed, otherOperator, fail, look, describe, type ErrorContext } from './error-context.js';

export function stage(spot: ErrorContext): false {
  const word = look(/([A-Za-z_][\w-]*)(?:\.[\w-]+)*/y, spot)?.[0];
  if (!word) {
    if (look(/[[{@]/y, spot)) return false;
    if (spot.text[spot.at - 1] === '|') otherOperator({ ...spot, at: spot.at - 1 });
    fail(spot.at, `Expected a stage behind \`|\`, found ${describe(spot.text, spot.at)}`, 'a stage is a function, as in `| @trim`');
  }
  if (/^(?:output|append|while|show|log|cmd|sh|bash|js|javascript|node|py|python|data)$/.test(word)) {
    if (word === 'output' && spot.furthest <= spot.at + word.length + 1)
      fail(spot.at, '`output` as a stage needs a target', 'write `| output to "file"`');
    return false;
  }
  fail(
    spot.at,
    `A stage needs an at sign: \`@${word}\``,
    builtIn.has(word.toLowerCase()) ? `write \`| @${word}\`` : `write \`| @${word}\` to call the function \`@${word}\``,
  );
}

export function whileCap(spot: ErrorContext): never {
  fail(spot.at, '`while` needs a cap', 'write `| while(10) @step`');
}

export function whileCall(spot: ErrorContext): never {
  fail(spot.at, '`while(CAP)` needs a function behind it', 'write `| while(10) @step`');
}

export function unclosedCode(spot: ErrorContext & { readonly opener: number }): never {
  const { text, at, statementAt } = spot;
  const word = look(/\/?[a-z]+/y, { text, at: statementAt })?.[0];
  unclosed(
    spot,
    spot,
    `Unclosed code block${word ? ` in \`${word}\`` : ''}: expected \`}\``,
    at < text.length ? 'braces and quotes in the code must balance' : undefined,
  );
}

/** An operator of the shell outside quotes in a `cmd` body. `rest`: the text from the operator on, if it is not the source. */
export function shellOperator(spot: ErrorContext, rest?: string): false {
  const operator = /^(?:&&|\|\||>>|<<|[;&<>])/.exec(rest ?? spot.text.slice(spot.at, spot.at + 2))?.[0];
  if (!operator) return false;
  fail(spot.at, `\`${operator}\` is not allowed in a \`cmd\` body, which is one command line`, 'use `sh { … }` for shell scripts');
}
