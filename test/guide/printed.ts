/** Plays a file with shown outputs and says which differ, or writes what was printed into the file: `MLLD_GUIDE_WRITE=1`. */
import { readFileSync, writeFileSync } from 'node:fs';

import { isShown, stepsOf } from './page.js';
import { play, type Played } from './play.js';

const WRITES = process.env['MLLD_GUIDE_WRITE'] === '1';

export interface Difference {
  /** The line of the command, from 1. */
  readonly line: number;
  readonly printed: readonly string[];
}

/** `from` is a folder whose copy is worked in; without it the folder is empty at first. */
export async function differences(file: string, from?: string): Promise<Difference[]> {
  const text = readFileSync(file, 'utf8');
  const differing = (await play(stepsOf(text), from)).filter(({ step, printed }) => !isShown(step.shown, printed));
  if (!WRITES) return differing.map(({ step, printed }) => ({ line: step.line + 1, printed }));
  writeFileSync(file, withPrinted(text, differing));
  return [];
}

function withPrinted(text: string, differing: readonly Played[]): string {
  const lines = text.split('\n');
  for (const { step, printed } of differing.toReversed()) lines.splice(step.shownFrom, step.shown.length, ...printed);
  return lines.join('\n');
}
