/** The tree and the names of a script, also while it has syntax errors. */
import path from 'node:path';
import { withPlainLineEnds } from '../../grammar/line-ends.js';
import { reparsed } from '../validate/reparse.js';
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
  return scriptOf(opened.file.text, absolute, opened.file.display);
}

/** Reads a text that may be broken. `near` is a script of a text that differs little. */
export function scriptOf(written: string, absolute: string, display: string, near?: ParsedScript): ParsedScript {
  const text = withPlainLineEnds(written);
  const mode = path.extname(absolute).toLowerCase() === '.md' ? 'markdown' : 'strict';
  const script = (near && reparsed(near, text)) ?? recoverScript(text, mode);
  return { absolute, display, text, script, symbols: symbolsOf(script) };
}
