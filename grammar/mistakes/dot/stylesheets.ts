/** Stylesheets. What does not parse has one code, as with conditions. */
import { SyntaxFailure } from '../../errors.js';
import { describe, look, type ErrorContext } from './error-context.js';

const PROPERTIES = 'properties are llm_model, llm_provider and reasoning_effort';
const RULES = 'a rule is `* { … }`, `shape { … }`, `.class { … }` or `#node { … }`';
const EFFORTS = new Set(['low', 'medium', 'high']);

export function noRules({ at }: ErrorContext): false {
  refuse(at, 'The stylesheet has no rules', RULES);
}

/** Where a rule should begin, or one has no block. */
export function rule(spot: ErrorContext): false {
  const { at } = spot;
  if (at >= spot.text.length) return false;
  const selector = look(/(?:\*|[.#]?[\w-]+)\s*/y, spot)?.[0];
  if (look(/\/[/*]/y, spot)) refuse(at, 'A stylesheet has no comments');
  if (selector === undefined) refuse(at, `Expected a rule, found ${describe(spot)}`, RULES);
  const behind = { ...spot, at: at + selector.length };
  if (look(/\{/y, behind)) refuse(at, `\`${selector.trim()}\` selects nothing`, RULES);
  refuse(behind.at, `Expected \`{\` behind \`${selector.trim()}\`, found ${describe(behind)}`, RULES);
}

export function declaration(spot: ErrorContext): false {
  const { at } = spot;
  if (look(/\}/y, spot)) refuse(at, 'The rule declares nothing', PROPERTIES);
  const word = look(/[\w-]+/y, spot)?.[0];
  if (word === undefined) refuse(at, `Expected a declaration, found ${describe(spot)}`, PROPERTIES);
  if (!/^(?:llm_model|llm_provider|reasoning_effort)$/.test(word)) refuse(at, `\`${word}\` is no property`, PROPERTIES);
  refuse(at + word.length, `Expected \`:\` behind \`${word}\``, `write \`${word}: value\``);
}

export function declarationsEnd(spot: ErrorContext): false {
  if (spot.at >= spot.text.length) refuse(spot.at, 'The rule is not closed', 'a `}` is missing');
  refuse(spot.at, `Expected \`;\` or \`}\`, found ${describe(spot)}`, 'declarations are parted by `;`');
}

export function styleValue(spot: ErrorContext): false {
  const written = look(/[^\s;}"]+/y, spot)?.[0];
  if (written === undefined) refuse(spot.at, `Expected a value behind \`:\`, found ${describe(spot)}`, 'write a word or a text in quotes');
  refuse(spot.at, `\`${written}\` is no bare word`, `write it in quotes: "${written}"`);
}

/** True for every other property. */
export function effort({ at }: ErrorContext, property: string, value: string): true {
  if (property !== 'reasoning_effort' || EFFORTS.has(value)) return true;
  refuse(at, `\`${value}\` is no reasoning effort`, 'write low, medium or high');
}

function refuse(at: number, message: string, hint?: string): never {
  throw new SyntaxFailure(message, { at, hint });
}
