/** What a template file refers to, held against the functions that are declared for it. world.md 13.2 and 13.4. */
import { isAmbientAnywhere } from '../ambient-names.js';
import type { Violation } from '../rule.js';
import type { Use } from '../static-scope.js';
import type { ParsedTemplate } from './workspace.js';
import { isGlued } from '../rules/names/unknown-names.js';

/** One `exe … = template` for a file: its parameters, and the names of the script around it, which the template sees as well. */
export interface TemplateUse {
  readonly params: readonly string[];
  readonly around: ReadonlySet<string>;
}

/** References that the template doesn't explain by itself. */
export function freeNames({ symbols, text }: ParsedTemplate): readonly Use[] {
  return symbols.uses.filter((use) => use.target === undefined && !isAmbientAnywhere(use.name) && !isGlued(use, text));
}

/** Nothing when no function is known: then nobody can say what the template is given. */
export function unknownInTemplate(template: ParsedTemplate, uses: readonly TemplateUse[]): readonly Violation[] {
  if (uses.length === 0) return [];
  const params = [...new Set(uses.flatMap((use) => use.params))];
  const isKnown = (name: string): boolean => params.includes(name) || uses.some(({ around }) => around.has(name));
  return freeNames(template)
    .filter(({ name, place }) => place !== 'test' && !isKnown(name))
    .map(({ name, at }) => ({
      at,
      variable: name,
      message: 'no parameter of a function that uses this template',
      hint: `parameters are ${params.map((param) => `@${param}`).join(', ') || 'none'}; @@ writes an at sign`,
    }));
}
