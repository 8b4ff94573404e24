/** Labels of edges as people mean them: normalised for comparison, with the key that picks them. graph-pipelines.md 6.3 and 12.2. */

/** `[K] text` with 1 to 8 letters or digits, `K) text`, `K - text`. */
const PREFIX = /^(?:\[(?<boxed>[\p{L}\p{N}]{1,8})\]\s*|(?<single>[\p{L}\p{N}])(?:\)\s+|\s+-\s+))(?=\S)/u;

export function normaliseLabel(label: string): string {
  return label.trim().toLowerCase().replace(PREFIX, '').trim();
}

/** In upper case; the first character where no key is written. Empty for an empty label. */
export function acceleratorOf(label: string): string {
  const text = label.trim();
  const { boxed, single } = PREFIX.exec(text)?.groups ?? {};
  return (boxed ?? single ?? [...text][0] ?? '').toUpperCase();
}

/** `[K] label`, as people are shown a choice; a key that the label brings along is not said twice. */
export function choiceLine({ key, label }: Pick<Choice, 'key' | 'label'>): string {
  return `[${key}] ${label.trim().replace(PREFIX, '').trim()}`;
}

export interface Choice {
  readonly key: string;
  /** As written; the target where there is none. */
  readonly label: string;
  readonly target: string;
}

/** The shortest answer that means this choice and no other: two choices may have one key. */
export function answerMeaning(choice: Choice, choices: readonly Choice[]): string {
  const { key, label, target } = choice;
  return [key, label, target].find((text) => choiceFor(text, choices) === choice) ?? target;
}

/** The first choice that fits by key, then by label as written, by normalised label, by target; without regard to case. */
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
