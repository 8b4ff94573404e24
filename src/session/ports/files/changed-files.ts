/** Reports at the end of a run which files of reused calls have other content than the calls had written. calls.md 22.2. */
import type { ChangedFiles } from './call-files.js';

/** Returns a line per function. */
export function changedFilesWarnings(changed: ReadonlyMap<string, ChangedFiles>): readonly string[] {
  return [...changed].map(([fn, { count, first }]) => {
    const files = count === 1 ? first : `${first} and ${count - 1} more`;
    const [have, are, its] = count === 1 ? ['has', 'is', 'its call'] : ['have', 'are', 'the calls'];
    return `@${fn}: ${files} ${have} other content than it wrote, and ${are} left as ${count === 1 ? 'it is' : 'they are'}; --resume @${fn} executes ${its} again`;
  });
}
