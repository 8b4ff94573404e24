/** Reports at the end of a run which files of reused calls have other content than the calls had written. calls.md 22.2. */
import type { ChangedFiles } from './call-files.js';

/** Returns a line per function. */
export function changedFilesWarnings(changed: ReadonlyMap<string, ChangedFiles>): readonly string[] {
  return [...changed].map(([fn, { count, first, op, areOfSeveral }]) => {
    const files = count === 1 ? first : `${first} and ${count - 1} more`;
    const [have, left] = count === 1 ? ['has', 'is left as it is'] : ['have', 'are left as they are'];
    // The other calls of the function are paid for, and nothing is wrong with them.
    const again = `--resume '${op}' executes ${areOfSeveral ? 'the first of the calls' : 'its call'} again`;
    const all = areOfSeveral ? `, --resume @${fn} all calls of @${fn}` : '';
    return `@${fn}: ${files} ${have} other content than it wrote, and ${left}; ${again}${all}`;
  });
}
