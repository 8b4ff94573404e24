/**
 * Finds the parts of a script that every run reaches, unless it fails before. Only there a mistake is a reason to refuse a run: a branch,
 * a body or an arm may never be reached. world.md 17.2.
 */
import type { Block, For, If, LoopPart, Pipeline, Script, When } from '../../grammar/ast.js';

/** Returns whether each run executes what begins at an offset: a reference, a stage, a change of a name. */
export function surelyExecuted(script: Pick<Script, 'statements'>): (at: number) => boolean {
  const reached = new Set<number>();
  inOrder(script.statements, reached);
  return (at) => reached.has(at);
}

/** Stops behind the first statement in which the script may end. */
function inOrder(statements: readonly unknown[], reached: Set<number>): void {
  for (const statement of statements) {
    visit(statement, reached);
    if (mayEnd(statement)) return;
  }
}

/** Kinds whose members run later, or never. */
const LATER: ReadonlySet<string> = new Set(['exe', 'hook', 'guard', 'shadow', 'import', 'export', 'needs', 'checkpoint', 'loop']);
const SHORT_CIRCUITS: ReadonlySet<unknown> = new Set(['&&', '||', '??']);
/** Sources of a pipeline that an empty result may end before its first stage. */
const MAY_BE_EMPTY: ReadonlySet<string> = new Set(['reference', 'chain', 'code', 'run', 'stream', 'pipeline', 'with']);

function visit(node: unknown, reached: Set<number>): void {
  if (typeof node !== 'object' || node === null) return;
  if (Array.isArray(node)) return node.forEach((element) => visit(element, reached));
  const { kind, at, nameAt } = node as { readonly kind?: string; readonly at?: unknown; readonly nameAt?: unknown };
  if (kind !== undefined && LATER.has(kind)) return;
  if (typeof at === 'number') reached.add(at);
  if (typeof nameAt === 'number') reached.add(nameAt);
  for (const child of reachedBelow(node, kind)) visit(child, reached);
  if (kind === 'block' || kind === 'fence') inOrder((node as Block).statements, reached);
}

function reachedBelow(node: object, kind: string | undefined): readonly unknown[] {
  switch (kind) {
    case 'block':
    case 'fence':
      return [];
    case 'if':
    case 'ternary':
      return [(node as If).condition];
    case 'when':
      return reachedOfWhen(node as When);
    case 'for':
      return [(node as For).parallel, (node as For).source];
    case 'loop-part':
      return [(node as LoopPart).source];
    case 'hole':
      return [(node as { readonly value: unknown }).value];
    case 'pipeline': {
      const { source, stages } = node as Pipeline;
      return [source, MAY_BE_EMPTY.has(source.kind) ? undefined : stages[0]];
    }
    case 'binary': {
      const { operator, left, right } = node as { readonly operator: unknown; readonly left: unknown; readonly right: unknown };
      return SHORT_CIRCUITS.has(operator) ? [left] : [left, right];
    }
    default:
      return Object.values(node);
  }
}

/** The conditions of a `when` are evaluated until one holds, so only the first is reached by every run. */
function reachedOfWhen({ subject, entries }: When): readonly unknown[] {
  const first = entries.findIndex(({ kind }) => kind === 'arm');
  const arm = entries[first];
  return [subject, ...entries.slice(0, Math.max(first, 0)), arm?.kind === 'arm' ? arm.condition : undefined];
}

const ENDS: ReadonlySet<unknown> = new Set(['return', 'bail']);

function mayEnd(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return false;
  const { kind } = node as { readonly kind?: string };
  if (kind !== undefined && LATER.has(kind) && kind !== 'loop') return false;
  return ENDS.has(kind) || Object.values(node).some(mayEnd);
}
