/** Knows the names that no script declares: the reserved variables and the built-in functions. values.md 11.3, 12 and 13. */
import { reservedNames } from '../../grammar/keywords.js';
import { findTransformer } from '../values/methods/transformers.js';
import type { RuleSettings, ParsedScript } from './rule.js';

/** Lists names of stages and inputs, and a function that is not in the table of transformers because it reads the disk. */
const OTHERS = ['stdin', 'payload', 'state', 'p', 'pipeline', 'fileExists', 'FILEEXISTS'];
const FRONTMATTER: ReadonlySet<string> = new Set(['fm', 'frontmatter']);
const AMBIENT: ReadonlySet<string> = new Set([...reservedNames, ...OTHERS]);

export function isAmbient(name: string, { script }: ParsedScript, { prefixes }: RuleSettings): boolean {
  return (
    isAmbientAnywhere(name) ||
    (FRONTMATTER.has(name) && script.frontmatter !== undefined) ||
    prefixes.some(({ prefix }) => prefix === `@${name}/`)
  );
}

/** Returns true for names that are defined in template files too, which have no frontmatter. */
export function isAmbientAnywhere(name: string): boolean {
  return AMBIENT.has(name) || isBuiltIn(name);
}

export function isBuiltIn(name: string): boolean {
  return name === 'fileExists' || name === 'FILEEXISTS' || findTransformer(name) !== undefined;
}
