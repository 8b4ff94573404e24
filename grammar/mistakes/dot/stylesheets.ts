/** Explains mistakes in stylesheets. All of them have one code, which `parse-dot.ts` sets. */
import { SyntaxFailure } from '../../errors.js';
import { describe, look, type ErrorContext } from './error-context.js';

const PROPERTIES = 'properties are llm_model, llm_provider and reasoning_effort';
const RULES = 'a rule is `* { … }`, `shape { … }`, `.class { … }` or `#node { … }`';
const EFFORTS = new Set(['low', 'medium', 'high']);

export function noRules({ at }: ErrorContext): false {
  refuse(at, 'The stylesheet has no rules', RULES);
}

/** Called where a rule should begin, or where one has no block. */
export function rule(context: ErrorContext): false {
  const { at } = context;
  if (at >= context.text.length) return false;
  const selector = look(/(?:\*|[.#]?[\w-]+)\s*/y, context)?.[0];
  if (look(/\/[/*]/y, context)) refuse(at, 'A stylesheet has no comments');
  if (selector === undefined) refuse(at, `Expected a rule, found ${describe(context)}`, RULES);
  const behind = { ...context, at: at + selector.length };
  if (look(/\{/y, behind)) refuse(at, `\`${selector.trim()}\` selects nothing`, RULES);
  refuse(behind.at, `Expected \`{\` after \`${selector.trim()}\`, found ${describe(behind)}`, RULES);
}

export function declaration(context: ErrorContext): false {
  const { at } = context;
  if (look(/\}/y, context)) refuse(at, 'The rule declares nothing', PROPERTIES);
  const word = look(/[\w-]+/y, context)?.[0];
  if (word === undefined) refuse(at, `Expected a declaration, found ${describe(context)}`, PROPERTIES);
  if (!/^(?:llm_model|llm_provider|reasoning_effort)$/.test(word)) refuse(at, `\`${word}\` is not a property`, PROPERTIES);
  refuse(at + word.length, `Expected \`:\` after \`${word}\``, `write \`${word}: value\``);
}

export function declarationsEnd(context: ErrorContext): false {
  if (context.at >= context.text.length) refuse(context.at, 'The rule is not closed', 'a `}` is missing');
  refuse(context.at, `Expected \`;\` or \`}\`, found ${describe(context)}`, 'declarations are separated by `;`');
}

export function styleValue(context: ErrorContext): false {
  const written = look(/[^\s;}"]+/y, context)?.[0];
  if (written === undefined)
    refuse(context.at, `Expected a value after \`:\`, found ${describe(context)}`, 'write a word or a text in quotes');
  refuse(context.at, `\`${written}\` is not a bare word`, `write it in quotes: "${written}"`);
}

/** Returns true for every other property. */
export function effort({ at }: ErrorContext, property: string, value: string): true {
  if (property !== 'reasoning_effort' || EFFORTS.has(value)) return true;
  refuse(at, `\`${value}\` is not a reasoning effort`, 'write low, medium or high');
}

function refuse(at: number, message: string, hint?: string): never {
  throw new SyntaxFailure(message, { at, hint });
}
