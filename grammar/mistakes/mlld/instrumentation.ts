/** Explains mistakes in hooks, guards and checkpoints. */
import type { Literal, Options, Template } from '../../ast.js';
import { closest } from '../../closest.js';
import { separator } from './values.js';
import { fail, look, pastBlanks, describe, pastSpace, type ErrorContext } from './error-context.js';

const hookForm = 'write `hook @name before @function = [ … ]`, or `after`';

export function hook(context: ErrorContext): false {
  const { at } = context;
  const rest = look(/hook[ \t\r\n]*(?:@[A-Za-z_][\w-]*[ \t\r\n]+)?/y, context)?.[0].length ?? 4;
  const behind = { ...context, at: at + rest };
  const timing = look(/(\S+?)(?=[\s=]|$)/y, behind)?.[1] ?? '';
  if (timing !== 'before' && timing !== 'after') {
    const named = look(/hook\s+([A-Za-z_][\w-]*)\s+(?:before|after)\b/y, context)?.[1];
    if (named) fail(at + 5, `The name of a hook needs an at sign: \`@${named}\``, hookForm);
    fail(behind.at, `A hook runs \`before\` or \`after\` something; found ${describe(context.text, behind.at)}`, hookForm);
  }
  const filterAt = behind.at + (look(/\w+\s*/y, behind)?.[0].length ?? 0);
  const filter = { ...context, at: filterAt };
  if (look(/=/y, filter)) fail(filterAt, 'A hook needs a filter', hookForm);
  if (look(/["'`]/y, filter)) fail(filterAt, 'The filter of a hook is not quoted', 'write `@function`, `op:type` or a label');
  const known = look(
    /(?:@[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*(?:\([ \t]*(?:"[^"\n]*"|'[^'\n]*')[ \t]*\))?|op:[A-Za-z][\w:-]*|[A-Za-z][\w:-]*)/y,
    filter,
  )?.[0];
  if (!known)
    fail(filterAt, `Expected the filter of a hook, found ${describe(context.text, filterAt)}`, 'write `@function`, `op:type` or a label');
  const after = pastSpace({ ...context, at: filterAt + known.length });
  if (look(/\(/y, after)) fail(after.at, 'The prefix in a filter is a quoted text', `write \`${known}("prefix")\``);
  if (look(/,/y, after)) fail(after.at, 'A hook has one filter', 'declare a second hook for the other one');
  if (!look(/=(?!=)/y, after)) fail(at, 'A hook needs `=` and a body after its filter', hookForm);
  const body = pastSpace({ ...context, at: after.at + 1 });
  if (!look(/\[|when(?![\w-])/y, body)) fail(body.at, 'The body of a hook is a block `[ … ]` or a `when`', hookForm);
  return false;
}

/** Refuses `=> !pii @x` and `=> trusted! @x`: a return adds labels and never removes them. */
export function returnedLabel(context: ErrorContext): false {
  const written = look(/(?:!(?!(?:true|false|null)(?![\w-]))([A-Za-z][\w:-]*)|([A-Za-z][\w:-]*)!)(?=[ \t]*,|[ \t]+[@"'`<{[(\d])/y, context);
  if (!written) return false;
  fail(
    context.at,
    `\`${written[0]}\`: only a privileged guard removes a label`,
    `in a \`guard privileged\`: \`* => allow with { removeLabels: ["${written[1] ?? 'label'}"] }\``,
  );
}

/**
 * Called behind the words of `=> WORD VALUE`, which are labels. Refuses one that reads like a statement or an action, unless the script has
 * the word in another place, too.
 */
export function misspeltAction({ text, at }: ErrorContext, labels: readonly string[]): true {
  const [label] = labels;
  if (label === undefined || labels.length > 1) return true;
  const other = OF_OTHER_LANGUAGES[label];
  if (other) fail(text.lastIndexOf(label, at), `\`${label}\` behind an arrow is not a statement`, other);
  const near = label.length > 2 ? closest(label, ACTIONS, 1) : undefined;
  const word = new RegExp(`(=>\\s*)?(?<![\\w-])${label}(?![\\w-])`, 'g');
  if (near === undefined || [...text.matchAll(word)].some(([, arrow]) => arrow === undefined)) return true;
  const from = text.lastIndexOf(label, at);
  fail(
    from,
    `\`${label}\` behind an arrow is not a statement`,
    `did you mean \`${near}\`? A label is declared by \`var ${label} @name = …\``,
  );
}

const OF_OTHER_LANGUAGES: { readonly [word: string]: string | undefined } = Object.freeze({
  return: 'the arrow itself returns: write `=> VALUE`',
  print: 'write `=> show VALUE`',
  echo: 'write `=> show VALUE`',
  throw: 'write `=> bail "why"`',
});

const ACTIONS = ['show', 'run', 'log', 'output', 'append', 'continue', 'done', 'retry', 'bail', 'skip', 'when', 'for', 'foreach', 'loop', 'stream', 'allow', 'deny', 'checkpoint']; // prettier-ignore

const guardForm = 'write `guard @name before @function = when [ CONDITION => allow; * => deny "reason" ]`';

export function guard(context: ErrorContext): false {
  const form = /guard\s+(?:privileged\s+)?(?:@[A-Za-z_][\w-]*\s+)?(\S*)/y;
  const timing = look(form, context)?.[1] ?? '';
  if (!/^(?:before|after|always|for)$/.test(timing))
    fail(context.at, `A guard runs \`before\`, \`after\` or \`always\`; found ${timing ? `\`${timing}\`` : 'nothing'}`, guardForm);
  const twice = look(/guard\s+(?:privileged\s+)?@[\w-]+\s+(?:before|after|always)\s+for\s+[@\w]/y, context);
  if (twice) fail(context.at, 'A guard has its timing or the word `for` behind its name, not both', guardForm);
  if (
    !look(
      /guard\s+(?:privileged\s+)?(?:@[\w-]+\s+)?(?:(?:before|after|always)\s+(?:(?:@[\w-]+\s+)?for\s+)?|for\s+)@?[A-Za-z_][\w.:-]*\s*=\s*when\s*\[/y,
      context,
    )
  ) {
    fail(context.at, 'A guard needs one filter, `=` and `when [ … ]`', guardForm);
  }
  if (context.furthest > context.at) return false;
  fail(context.at, 'This guard cannot be read', guardForm);
}

export function reason(context: ErrorContext): never {
  const word = /(deny|retry)$/.exec(context.text.slice(0, context.at))?.[0] ?? 'deny';
  fail(context.at, `\`${word}\` needs a quoted text`, `write \`${word} "reason"\``);
}

const checkpointForm = 'write `checkpoint "name"`';

export function checkpoint(context: ErrorContext): false {
  const behind = pastBlanks({ ...context, at: context.at + 'checkpoint'.length });
  if (!look(/["'`]/y, behind))
    fail(context.at, `The name of a \`checkpoint\` is a quoted text, not ${describe(context.text, behind.at)}`, checkpointForm);
  return false;
}

export function checkpointName(name: Template | Literal): true {
  const fixed =
    name.kind === 'literal'
      ? String(name.value)
      : name.parts.every((part) => part.kind === 'text')
        ? name.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
        : 'open';
  if (fixed.trim() === '') fail(name.at, 'The name of a `checkpoint` is empty', checkpointForm);
  return true;
}

export function checkpointOption(original: ErrorContext): false {
  const context = pastSpace(original);
  const option = look(/([A-Za-z]+)\s*:\s*([^\s,}]*)/y, context);
  if (option?.[1] === 'resume') fail(context.at, `\`${option[2]}\` is not a value of \`resume\``, 'use `auto`, `manual` or `never`');
  if (option?.[1] === 'ttl') fail(context.at, `\`${option[2]}\` is not a duration`, 'use a number with a unit, as in `30m` or `1d`');
  if (context.at >= context.text.length) fail(context.statementAt, 'Unclosed options of `checkpoint`: expected `}`');
  return separator(context, '}', 'options');
}

/** Refuses unknown options, modes and durations, where the text shows them. */
export function checkpointValue(option: Options[number]): Options[number] {
  const { name, at, value: given } = option;
  const fixed =
    given.kind === 'literal'
      ? given.value
      : given.kind === 'template' && given.parts.length === 1 && given.parts[0]?.kind === 'text'
        ? given.parts[0].text
        : undefined;
  if (name === 'complete') return option;
  if (name === 'resume') {
    if (fixed !== undefined && !/^(?:auto|manual|never)$/.test(String(fixed)))
      fail(given.at, `\`${fixed}\` is not a value of \`resume\``, 'use `auto`, `manual` or `never`');
    return option;
  }
  if (name !== 'ttl') fail(at, `\`${name}\` is not an option of \`checkpoint\``, 'the options are `resume`, `ttl` and `complete`');
  if (fixed !== undefined && !(typeof fixed === 'number' && fixed >= 0) && !/^\d+(?:\.\d+)?(?:ms|[smhdw])$/.test(String(fixed))) {
    fail(given.at, `\`${fixed}\` is not a duration`, 'use a number with a unit, as in `30m` or `1d`');
  }
  return option;
}
