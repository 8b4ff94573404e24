/** What a run says at its end about results that it reused although their function, or what guards it, was edited since. design.md 3. */
import {
  definitionChanges,
  describeEdit,
  isInterceptor,
  type Definitions,
  type RecordedDefinition,
} from '../../../replay/memo/definitions.js';
import type { Fingerprint } from '../../../journal/ids.js';
import type { StaleHit } from './result-cache.js';

/** One line per function. A definition is looked up wherever it was recorded: its fingerprint names it. */
export function staleHitWarnings(
  old: ReadonlyMap<string, StaleHit>,
  recorded: readonly { readonly definitions: Definitions }[],
): readonly string[] {
  const definitionOf = (fingerprint: Fingerprint): RecordedDefinition | undefined =>
    recorded.find(({ definitions }) => definitions.has(fingerprint))?.definitions.get(fingerprint);
  return [...old].map(([fn, { count, editions }]) => {
    const changes = [...editions].flatMap(([before, now]) => definitionChanges(definitionOf(before), definitionOf(now)));
    const before = `from before ${describeEdit(changes)}; --resume @${fn} or`;
    if (changes.length > 0 && changes.every(isInterceptor)) {
      const [results, them] = count === 1 ? ['1 result', 'it'] : [`${count} results`, 'them'];
      return `@${fn}: ${results} reused ${before} --changed ask-guards runs ${them} again`;
    }
    const answers = count === 1 ? '1 answer' : `${count} answers`;
    return `@${fn}: ${answers} served ${before} --changed ask asks again`;
  });
}
