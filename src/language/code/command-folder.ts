/** Finds out before a call in which folder its command will run, so that the files that it names are looked for there. calls.md 22.4. */
import type { TemplatePart } from '../../../grammar/ast.js';
import type { Frame } from '../../runtime/frame.js';
import { resolveDirectory } from '../paths.js';

/**
 * Returns undefined where the folder is known only when the command runs, because a function or the environment says it, and where it
 * can't be resolved: then the command says why. `frame` is that of the function.
 */
export async function commandFolder(parts: readonly TemplatePart[], frame: Frame): Promise<string | undefined> {
  const [first] = parts;
  const isHome = first?.kind === 'text' && first.text.startsWith('~');
  if (isHome || !parts.every(isPlain)) return undefined;
  return resolveDirectory(parts, frame).then(
    ({ directory }) => directory,
    () => undefined,
  );
}

/** A text, or a name with fields: to evaluate it has no effect. */
function isPlain(part: TemplatePart): boolean {
  if (part.kind === 'text') return true;
  if (part.kind !== 'hole' || part.pipes.length > 0 || part.then !== undefined) return false;
  return part.value.steps.every(({ kind }) => kind === 'field');
}
