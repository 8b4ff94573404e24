/** Reports at the end of a run which results it reused although their function, guards or hooks were edited since. design.md 3. */
import {
  definitionChanges,
  describeEdit,
  isInterceptor,
  type Definitions,
  type RecordedDefinition,
} from '../../../replay/memo/definitions.js';
import type { Fingerprint } from '../../../journal/ids.js';
import type { StaleHit } from './result-cache.js';

/** Returns a line per function. A definition is looked up in all memos: its fingerprint names it. */
export function staleHitWarnings(
  staleHits: ReadonlyMap<string, StaleHit>,
  recorded: readonly { readonly definitions: Definitions }[],
  isPipeline: boolean,
): readonly string[] {
  const definitionOf = (fingerprint: Fingerprint): RecordedDefinition | undefined =>
    recorded.find(({ definitions }) => definitions.has(fingerprint))?.definitions.get(fingerprint);
  return [...staleHits].map(([fn, { count, editions }]) => {
    const changes = [...editions].flatMap(([before, now]) => definitionChanges(definitionOf(before), definitionOf(now)));
    const [results, them] = count === 1 ? ['1 result', 'it'] : [`${count} results`, 'them'];
    const changed = changes.length > 0 && changes.every(isInterceptor) ? 'ask-guards' : 'ask';
    // A pipeline has neither functions to resume from nor --changed.
    const remedy = isPipeline ? 'a run without --checkpoint' : `--resume @${fn} or --changed ${changed}`;
    return `@${fn}: ${results} reused from before ${describeEdit(changes)}; ${remedy} runs ${them} again`;
  });
}
