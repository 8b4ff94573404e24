/** Words the note that tells a model, in the next attempt, why its last result was refused. calls.md 8.4. */

/** Begins with a blank line, because it stands behind a prompt. */
export function repairNote(problems: readonly string[]): string {
  return `\n\nThe result of the last attempt was refused: ${problems.join('; ')}.\nReply with nothing but JSON that fits the schema.`;
}
