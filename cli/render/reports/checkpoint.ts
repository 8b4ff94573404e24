/** Renders `mlld checkpoint list|clean`, word for word as checkpoint-resume.md 13 has it. */
import type { UnknownRun } from '../../../replay/upkeep/unknown-events.js';
import { clip, oneLine } from '../one-line.js';

export interface ListedEntry {
  readonly fn: string;
  /** The first argument as text; undefined for a call without arguments. */
  readonly preview: string | undefined;
}

const PREVIEW_UNITS_MAX = 160;

/** `script` is the argument as it was written, `name` the name of the script. */
export function renderEntries(
  entries: readonly ListedEntry[],
  { script, name }: { readonly script: string; readonly name: string },
): string {
  if (entries.length === 0) return `No checkpoint entries found for "${script}".\n`;
  const lines = entries.map(({ fn, preview }) => `- ${oneLine(fn)} | ${renderPreview(preview)}`);
  return `${[`Checkpoint entries for ${name}:`, ...lines, `Total: ${entries.length}`].join('\n')}\n`;
}

export function renderCleaned(cleaned: { readonly name: string } | undefined, script: string): string {
  return cleaned === undefined ? `No checkpoint cache found for "${script}".\n` : `Cleared checkpoint cache for "${cleaned.name}".\n`;
}

/** A line for each run that was left as it is. */
export function renderLeft(left: readonly UnknownRun[]): string {
  return left
    .map(({ run, types }) => {
      const why = types.length === 0 ? 'a newer mlld recorded it' : `it has events that this mlld does not know: ${types.join(', ')}`;
      return `Left run ${run} as it is: ${oneLine(why)}\n`;
    })
    .join('');
}

function renderPreview(preview: string | undefined): string {
  return preview === undefined || preview === '' ? '<empty>' : clip(oneLine(preview), PREVIEW_UNITS_MAX);
}
