/** Compares the names in a template file with the functions that are declared for it. world.md 13.2 and 13.4. */
import { isAmbientAnywhere } from '../ambient-names.js';
import type { Violation } from '../rule.js';
import type { Use } from '../static-scope.js';
import type { ParsedTemplate } from './workspace.js';
import { isGlued } from '../rules/names/unknown-names.js';

/** One `exe … = template` for a file: its parameters, and the names of its script, which the template sees too. */
export interface TemplateUse {
  readonly params: readonly string[];
  readonly around: ReadonlySet<string>;
}

/** Returns the references to names that the template itself does not declare. */
export function freeNames({ symbols, text }: ParsedTemplate): readonly Use[] {
  return symbols.uses.filter((use) => use.target === undefined && !isAmbientAnywhere(use.name) && !isGlued(use, text));
}

/** Returns no violations when no function is known for the template, because then its parameters are not known either. */
export function unknownInTemplate(template: ParsedTemplate, uses: readonly TemplateUse[]): readonly Violation[] {
  if (uses.length === 0) return [];
  const params = [...new Set(uses.flatMap((use) => use.params))];
  const isKnown = (name: string): boolean => params.includes(name) || uses.some(({ around }) => around.has(name));
  return freeNames(template)
    .filter(({ name, place }) => place !== 'test' && !isKnown(name))
    .map(({ name, at }) => ({
      at,
      variable: name,
      message: 'not a parameter of any function that uses this template',
      hint: `the parameters are ${params.map((param) => `@${param}`).join(', ') || 'none'}; write @@ for an at sign`,
    }));
}
