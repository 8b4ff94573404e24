/** Compares labels of edges as people mean them, and finds the choice that an answer names. graph-pipelines.md 6.3 and 12.2. */

/** `[K] text` with 1 to 8 letters or digits, `K) text`, `K - text`. */
const PREFIX = /^(?:\[(?<boxed>[\p{L}\p{N}]{1,8})\]\s*|(?<single>[\p{L}\p{N}])(?:\)\s+|\s+-\s+))(?=\S)/u;

export function normaliseLabel(label: string): string {
  return label.trim().toLowerCase().replace(PREFIX, '').trim();
}

/** Returns the key of a label in upper case; the first character where no key is written, empty for an empty label. */
export function acceleratorOf(label: string): string {
  const text = label.trim();
  const { boxed, single } = PREFIX.exec(text)?.groups ?? {};
  return (boxed ?? single ?? [...text][0] ?? '').toUpperCase();
}

/** Returns `[K] label`, the form in which people see a choice, without the key that the label itself may have. */
export function choiceLine({ key, label }: Pick<Choice, 'key' | 'label'>): string {
  return `[${key}] ${label.trim().replace(PREFIX, '').trim()}`;
}

export interface Choice {
  readonly key: string;
  /** The written label; the target's id when the edge has no label. */
  readonly label: string;
  readonly target: string;
}

/** Returns the shortest answer that names this choice and no other, as two choices may have the same key. */
export function answerMeaning(choice: Choice, choices: readonly Choice[]): string {
  const { key, label, target } = choice;
  return [key, label, target].find((text) => choiceFor(text, choices) === choice) ?? target;
}

/** Returns the first choice that matches by key, else by written label, normalised label or target; letter case is ignored. */
export function choiceFor(answer: string, choices: readonly Choice[]): Choice | undefined {
  const wanted = answer.trim().toLowerCase();
  if (wanted === '') return undefined;
  const fits: readonly ((choice: Choice) => boolean)[] = [
    ({ key }) => key.toLowerCase() === wanted,
    ({ label }) => label.trim().toLowerCase() === wanted,
    ({ label }) => normaliseLabel(label) === normaliseLabel(answer),
    ({ target }) => target.toLowerCase() === wanted,
  ];
  for (const fit of fits) {
    const found = choices.find(fit);
    if (found) return found;
  }
  return undefined;
}
