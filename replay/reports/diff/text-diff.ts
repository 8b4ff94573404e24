/** Compares two texts line by line. The one file that imports the package `diff`, which is loaded only when it is needed. */

/** Lines of a difference: `' '` common, `-` only before, `+` only now, `@` where a part begins. */
export type DiffLines = readonly string[];

/** Milliseconds; two long texts that have nothing in common would take minutes. */
const TIMEOUT_MS = 200;
const CONTEXT_LINES = 2;
const LINES_MAX = 200;
const LINE_UNITS_MAX = 500;

/** Empty for equal texts. Lines beyond some 200 are left out; where the comparison takes too long, one line says so. */
export async function textDiff(before: string, now: string): Promise<DiffLines> {
  if (before === now) return [];
  const { structuredPatch } = await import('diff');
  const patch = structuredPatch('', '', before, now, '', '', { context: CONTEXT_LINES, timeout: TIMEOUT_MS });
  if (patch === undefined) return [`@ ${before.length} characters were, ${now.length} are; they have too little in common`];
  const lines = patch.hunks.flatMap(({ oldStart, newStart, lines: hunk }) => [
    `@ line ${oldStart === newStart ? oldStart : `${oldStart}, now ${newStart}`}`,
    ...hunk.filter((line) => !line.startsWith('\\')).map((line) => line.slice(0, LINE_UNITS_MAX)),
  ]);
  const more = lines.length - LINES_MAX;
  return more > 0 ? [...lines.slice(0, LINES_MAX), `@ and ${more} more lines`] : lines;
}
