/** Puts the lines of a difference into two columns: a line that was replaced is beside the one that replaced it. */

export interface Sides {
  /** `part` begins a part of the text, `same` is on both sides. */
  readonly kind: 'same' | 'changed' | 'part';
  /** Null: there is no line on this side. */
  readonly left: string | null;
  readonly right: string | null;
}

/** Counts the rows in which two texts differ; undefined where they were not compared. */
export function changedLines(lines: readonly string[] | null): number | undefined {
  return lines === null ? undefined : sideBySide(lines).filter(({ kind }) => kind === 'changed').length;
}

/** `lines` begin with `' '`, `-`, `+` or `@`. */
export function sideBySide(lines: readonly string[]): readonly Sides[] {
  const rows: Sides[] = [];
  let removed: string[] = [];
  let added: string[] = [];
  const flush = (): void => {
    for (let index = 0; index < Math.max(removed.length, added.length); index++)
      rows.push({ kind: 'changed', left: removed[index] ?? null, right: added[index] ?? null });
    [removed, added] = [[], []];
  };
  for (const line of lines) {
    const text = line.slice(1);
    if (line.startsWith('-')) removed.push(text);
    else if (line.startsWith('+')) added.push(text);
    else {
      flush();
      rows.push({ kind: line.startsWith('@') ? 'part' : 'same', left: text, right: text });
    }
  }
  flush();
  return rows;
}
