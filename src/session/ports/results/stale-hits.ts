/**
 * Reports at the end of a run which results it reused although their function, guards or hooks were edited since, or which another function
 * of the same name had made. design.md 3.
 */
import {
  definitionChanges,
  describeEdit,
  isInterceptor,
  type DefinitionChange,
  type Definitions,
  type RecordedDefinition,
} from '../../../../replay/memo/definitions.js';
import type { Fingerprint } from '../../../../journal/ids.js';
import { AGENT_FUNCTION } from '../../../../replay/workflows/resolve-workflow-target.js';
import type { RunOptions } from '../../script/run-options.js';
import type { RunCache } from './result-cache.js';

/** Returns a line per function and cause. A definition is looked up in all memos: its fingerprint names it. */
export function staleHitWarnings(
  { staleHits, recordedDefinitions: own }: Pick<RunCache, 'staleHits' | 'recordedDefinitions'>,
  recorded: readonly { readonly definitions: Definitions }[],
  { pipeline, workflow }: Pick<RunOptions, 'pipeline' | 'workflow'>,
): readonly string[] {
  const definitionOf = (fingerprint: Fingerprint): RecordedDefinition | undefined =>
    recorded.find(({ definitions }) => definitions.has(fingerprint))?.definitions.get(fingerprint);
  const withoutReuse = (fn: string): string | undefined => {
    // A pipeline has neither functions to resume from nor --changed.
    if (pipeline) return 'a run without --checkpoint';
    // A workflow script calls agents alone, and those around were made with the edited function.
    return workflow && fn !== AGENT_FUNCTION ? 'a run without --resume' : undefined;
  };
  return [...staleHits].flatMap(([fn, hits]) => {
    const editions = [...hits].map(([before, { now, count }]) => {
      const changes = definitionChanges(definitionOf(before), definitionOf(now));
      return { count, changes, isShared: own.has(before) && !areOfInterceptors(changes) };
    });
    const shared = editions.filter(({ isShared }) => isShared);
    const edited = editions.filter(({ isShared }) => !isShared);
    return [
      ...(edited.length > 0 ? [editedWarning(fn, edited, withoutReuse(fn))] : []),
      ...(shared.length > 0 ? [sharedWarning(fn, countOf(shared))] : []),
    ];
  });
}

interface Edition {
  readonly count: number;
  readonly changes: readonly DefinitionChange[];
}

function editedWarning(fn: string, editions: readonly Edition[], withoutReuse: string | undefined): string {
  const count = countOf(editions);
  const changes = editions.flatMap((edition) => edition.changes);
  const them = count === 1 ? 'it' : 'them';
  const changed = areOfInterceptors(changes) ? 'ask-guards' : 'ask';
  const remedy = withoutReuse ?? `--resume @${fn} or --changed ${changed}`;
  return `@${fn}: ${results(count)} reused from before ${describeEdit(changes)}; ${remedy} runs ${them} again`;
}

/** Nothing was edited, so to execute them again would only let the other function take these. checkpoint-resume.md 6.1. */
function sharedWarning(fn: string, count: number): string {
  return `@${fn}: ${results(count)} reused that another @${fn} of this run had made with the same arguments; give each function a name of its own`;
}

function countOf(editions: readonly Edition[]): number {
  return editions.reduce((sum, { count }) => sum + count, 0);
}

function results(count: number): string {
  return count === 1 ? '1 result' : `${count} results`;
}

function areOfInterceptors(changes: readonly DefinitionChange[]): boolean {
  return changes.length > 0 && changes.every(isInterceptor);
}
