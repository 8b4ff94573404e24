/** Lays out a buffered document (world.md 3.3), as `@md` does too (values.md 11.7). */

type LineKind = 'blank' | 'text' | 'heading' | 'kept';

/** Leaves one line end at the end, one blank line between paragraphs and around headings; keeps fences, tables and frontmatter. */
export function normaliseDocument(text: string): string {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const kinds = lineKinds(lines);
  const out: string[] = [];
  let previous: number | undefined; // the last line that is not blank
  let gap = false;
  lines.forEach((line, i) => {
    const kind = kinds[i] ?? 'text';
    if (kind === 'blank') {
      gap = true;
      return;
    }
    if (previous !== undefined && (gap || needsGap(lines, kinds, previous, i))) out.push('');
    out.push(kind === 'kept' ? line : line.trimEnd());
    previous = i;
    gap = false;
  });
  return out.join('\n').trimEnd() + '\n';
}

function needsGap(lines: readonly string[], kinds: readonly LineKind[], before: number, here: number): boolean {
  if (kinds[before] === 'kept' && kinds[here] === 'kept') return false;
  if (kinds[before] === 'heading' || kinds[here] === 'heading') return true;
  const last = lines[before]?.trimEnd().at(-1) ?? '';
  const first = lines[here]?.charAt(0) ?? '';
  return !'{['.includes(last) && !'# \t-}]'.includes(first);
}

/** Blank lines inside a fence or frontmatter are `kept`. */
function lineKinds(lines: readonly string[]): LineKind[] {
  let closing: RegExp | undefined;
  return lines.map((line, i) => {
    if (closing) {
      if (closing.test(line)) closing = undefined;
      return 'kept';
    }
    if (i === 0 && /^---\s*$/.test(line) && lines.some((other, j) => j > 0 && /^---\s*$/.test(other))) closing = /^---\s*$/;
    const fence = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence) closing = new RegExp(`^ {0,3}${fence[0]}{${fence.length},}\\s*$`);
    if (closing || /^\s*\|/.test(line)) return 'kept';
    if (line.trim() === '') return 'blank';
    return /^ {0,3}#{1,6}\s/.test(line) ? 'heading' : 'text';
  });
}
