/** What a run says at its end about results that it served although their function was edited since. Design section 3. */
import type { Fingerprint } from '../../journal/ids.js';
import { definitionChanges, describeChange, describeEdit, type Definitions, type Parts } from '../../replay/definitions.js';
import type { ServedOld } from './answers.js';

/** One line per function. A definition is looked up wherever it was recorded: its fingerprint names it. */
export function servedOldNotices(
  old: ReadonlyMap<string, ServedOld>,
  recorded: readonly { readonly definitions: Definitions }[],
): readonly string[] {
  const partsOf = (fingerprint: Fingerprint): Parts | undefined => {
    for (const { definitions } of recorded) {
      const parts = definitions.get(fingerprint);
      if (parts !== undefined) return parts;
    }
    return undefined;
  };
  return [...old].map(([fn, { count, editions }]) => {
    const changes = new Set<string>();
    for (const [before, now] of editions)
      for (const change of definitionChanges(partsOf(before), partsOf(now))) changes.add(describeChange(change));
    const answers = count === 1 ? '1 answer' : `${count} answers`;
    return `@${fn}: ${answers} served from before ${describeEdit([...changes])}; --resume @${fn} or --changed ask asks again`;
  });
}
