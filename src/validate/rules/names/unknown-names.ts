/** Uses of names that nothing declares, and that no other rule explains. Shared by two rules, so that a name is reported once. */
import { isAmbient } from '../../ambient-names.js';
import type { ParsedScript, RuleSettings } from '../../rule.js';
import type { Use } from '../../static-scope.js';

const WORD_CHARACTER = /[\p{L}\p{N}_]/u;

export function unknownNames(file: ParsedScript, settings: RuleSettings): readonly Use[] {
  return file.symbols.uses.filter(
    (use) => use.target === undefined && use.place !== 'test' && !isAmbient(use.name, file, settings) && !isGlued(use, file.text),
  );
}

/** A name with a hyphen in text, whose beginning is declared: the hyphen was meant as text. checkpoint-resume.md 9.1. */
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

/** `crew@port`: an address, which stays as it is written. values.md 6.2. */
export function isGlued({ at, place }: Pick<Use, 'at' | 'place'>, text: string): boolean {
  return place === 'text' && at > 0 && WORD_CHARACTER.test(text.charAt(at - 1));
}
