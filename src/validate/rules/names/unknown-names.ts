/** Finds uses of undeclared names. Two rules share it, so that each name is reported once. */
import { isAmbient } from '../../ambient-names.js';
import type { ParsedScript, RuleSettings } from '../../rule.js';
import type { Use } from '../../static-scope.js';

const WORD_CHARACTER = /[\p{L}\p{N}_]/u;

export function unknownNames(file: ParsedScript, settings: RuleSettings): readonly Use[] {
  return file.symbols.uses.filter(
    (use) => use.target === undefined && use.place !== 'test' && !isAmbient(use.name, file, settings) && !isGlued(use, file.text),
  );
}

/** Returns the declared beginning of a name with a hyphen in text: the hyphen was probably meant as text. checkpoint-resume.md 9.1. */
export function beginningOf({ name, place, visible }: Use): string | undefined {
  if (place !== 'text' || !name.includes('-')) return undefined;
  const declared = new Set(visible());
  const parts = name.split('-');
  for (let length = parts.length - 1; length > 0; length--) {
    const beginning = parts.slice(0, length).join('-');
    if (declared.has(beginning)) return beginning;
  }
  return undefined;
}

/** Returns true for the `@port` of `crew@port`, an address, which is left as it is written. values.md 6.2. */
export function isGlued({ at, place }: Pick<Use, 'at' | 'place'>, text: string): boolean {
  return place === 'text' && at > 0 && WORD_CHARACTER.test(text.charAt(at - 1));
}
