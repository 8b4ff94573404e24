/** Texts that have parts in common, as the histories of conversations do. */
import { createHash } from 'node:crypto';

/** Returns text that occurs nowhere else, the same for the same seed. */
export function words(seed: string | number, length: number): string {
  let text = '';
  for (let i = 0; text.length < length; i++) text += `${createHash('sha256').update(`${seed} ${i}`).digest('base64')} `;
  return text.slice(0, length);
}

/** Returns the texts of a conversation that grows. */
export function conversation(seed: string, turns: number, startUnits = 100_000, growthUnits = 3000): string[] {
  const texts = [words(seed, startUnits)];
  for (let turn = 0; turn < turns; turn++) texts.push(texts[turn] + words(`${seed} ${turn}`, growthUnits));
  return texts;
}

/** Returns a text that begins with all earlier ones of the seed. */
export function growing(seed: string, turn: number): string {
  return words(seed, 60_000 + 2000 * turn);
}
