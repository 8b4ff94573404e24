/** Where a `checkpoint` may stand: checkpoint-resume.md 9.3. Found in the tree, before anything runs. */
import type { Checkpoint, Script, Statement } from '../../../grammar/ast.js';

/** Checkpoints that stand neither at the top level nor as the direct result of a top-level `when`, in source order. */
export function misplacedCheckpoints(script: Script): Checkpoint[] {
  const allowed = new Set<Checkpoint>(placedCheckpoints(script));
  const misplaced: Checkpoint[] = [];
  // A list, not a descent: what the parser took may be nested more deeply than a stack of ours is high.
  const left: unknown[] = [...script.statements];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    if ((node as { kind?: unknown }).kind === 'checkpoint') {
      if (!allowed.has(node as Checkpoint)) misplaced.push(node as Checkpoint);
    } else for (const member of Object.values(node)) if (member !== undefined) left.push(member);
  }
  return misplaced.toSorted((a, b) => a.at - b.at);
}

/** Those that stand where they may, in source order. */
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

/** The name as it is written, where it is no template with references. */
export function writtenName({ name }: Checkpoint): string | undefined {
  if (name.kind === 'literal') return String(name.value).trim();
  return name.parts.every((part) => part.kind === 'text')
    ? name.parts
        .map((part) => (part.kind === 'text' ? part.text : ''))
        .join('')
        .trim()
    : undefined;
}
