/** Finds the checkpoints of a script in its tree, before anything runs. checkpoint-resume.md 9.3. */
import type { Checkpoint, Script, Statement } from '../../../grammar/ast.js';

/** Returns the checkpoints that are neither at the top level nor the direct result of a top-level `when`, in source order. */
export function misplacedCheckpoints(script: Script): Checkpoint[] {
  const allowed = new Set<Checkpoint>(placedCheckpoints(script));
  const misplaced: Checkpoint[] = [];
  // A list instead of recursion: the parser accepts deeper nesting than our stack would.
  const left: unknown[] = [...script.statements];
  while (left.length > 0) {
    const node = left.pop();
    if (typeof node !== 'object' || node === null) continue;
    if ((node as { kind?: unknown }).kind === 'checkpoint') {
      if (!allowed.has(node as Checkpoint)) misplaced.push(node as Checkpoint);
    } else for (const name in node) left.push((node as { readonly [name: string]: unknown })[name]);
  }
  return misplaced.toSorted((a, b) => a.at - b.at);
}

/** Returns the checkpoints in an allowed position, in source order. */
export function placedCheckpoints(script: Script): Checkpoint[] {
  return script.statements.flatMap(allowedIn);
}

function allowedIn(statement: Statement): Checkpoint[] {
  switch (statement.kind) {
    case 'checkpoint':
      return [statement];
    case 'fence':
      return statement.statements.flatMap(allowedIn);
    case 'when':
      return statement.entries.flatMap((entry) => (entry.kind === 'arm' && entry.action.kind === 'checkpoint' ? [entry.action] : []));
    default:
      return [];
  }
}

/** Returns the name as it is written; undefined for a template with references. */
export function writtenName({ name }: Checkpoint): string | undefined {
  if (name.kind === 'literal') return String(name.value).trim();
  return name.parts.every((part) => part.kind === 'text')
    ? name.parts
        .map((part) => (part.kind === 'text' ? part.text : ''))
        .join('')
        .trim()
    : undefined;
}
