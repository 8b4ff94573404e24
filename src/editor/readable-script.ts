/** The tree and the names of a script, also while it has syntax errors. */
import path from 'node:path';
import { withPlainLineEnds } from '../../grammar/line-ends.js';
import { reparsedAround } from '../validate/reparse.js';
import type { ParsedScript } from '../validate/rule.js';
import { symbolsOf } from '../validate/symbols.js';
import type { ProjectView } from './project-view.js';
import { recoverScript } from './recover.js';

const SCRIPT = /\.(?:mld|mlld|md)$/i;

/** Returns undefined for a file that is missing or of another kind. */
export async function readableScript(absolute: string, { workspace }: ProjectView): Promise<ParsedScript | undefined> {
  if (!SCRIPT.test(absolute)) return undefined;
  const opened = await workspace.script(absolute);
  if (opened.kind === 'missing') return undefined;
  if (opened.kind === 'parsed') return opened.file;
  const { text, display, sound } = opened.file;
  // Only the statements around the change are parsed again: the whole of a long script would take too long while somebody types.
  const script = sound && reparsedAround(sound, text, (part) => recoverScript(part, 'strict'))?.script;
  return script ? { absolute, display, text, script, symbols: symbolsOf(script) } : scriptOf(text, absolute, display);
}

/** Reads a text that may be broken. */
export function scriptOf(written: string, absolute: string, display: string): ParsedScript {
  const text = withPlainLineEnds(written);
  const mode = path.extname(absolute).toLowerCase() === '.md' ? 'markdown' : 'strict';
  const script = recoverScript(text, mode);
  return { absolute, display, text, script, symbols: symbolsOf(script) };
}
