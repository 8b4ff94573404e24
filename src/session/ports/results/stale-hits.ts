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
import type { Fingerprint, OpPath } from '../../../../journal/ids.js';
import { shellWords } from '../../../../journal/shell-words.js';
import { AGENT_FUNCTION } from '../../../../replay/workflows/resolve-workflow-target.js';
import type { RunOptions } from '../../script/run-options.js';
import type { RunCache } from './result-cache.js';

/** Returns a line per function and cause. A definition is looked up in all memos: its fingerprint names it. */
export function staleHitWarnings(
  { staleHits, recordedDefinitions: own }: Pick<RunCache, 'staleHits' | 'recordedDefinitions'>,
  recorded: readonly { readonly definitions: Definitions }[],
  { pipeline, workflow, isRestarted }: Pick<RunOptions, 'pipeline' | 'workflow'> & { readonly isRestarted: boolean },
): readonly string[] {
  const definitionOf = (fingerprint: Fingerprint): RecordedDefinition | undefined =>
    recorded.find(({ definitions }) => definitions.has(fingerprint))?.definitions.get(fingerprint);
  const withoutReuse = (fn: string, hits: readonly { readonly step: OpPath | undefined }[]): string | undefined => {
    // A pipeline has neither functions to resume from nor --changed. A node of a run before a restart, or of a child, can't be named.
    if (pipeline) {
      const [step, ...others] = new Set(hits.map((hit) => hit.step));
      const node = step === undefined || others.length > 0 || pipeline.isChild || isRestarted ? undefined : nodeOf(step);
      return node === undefined ? 'a run without --checkpoint' : shellWords(['--resume', node]);
    }
    // A workflow script calls agents alone, and those around were made with the edited function.
    return workflow && fn !== AGENT_FUNCTION ? 'a run without --resume' : undefined;
  };
  return [...staleHits].flatMap(([fn, hits]) => {
    const editions = [...hits].map(([before, { now, count, step }]) => {
      const changes = definitionChanges(definitionOf(before), definitionOf(now));
      return { count, step, changes, isShared: own.has(before) && !areOfInterceptors(changes) };
    });
    const shared = editions.filter(({ isShared }) => isShared);
    const edited = editions.filter(({ isShared }) => !isShared);
    return [
      ...(edited.length > 0 ? [editedWarning(fn, edited, withoutReuse(fn, edited))] : []),
      ...(shared.length > 0 ? [sharedWarning(fn, countOf(shared))] : []),
    ];
  });
}

/** Returns `fan` for `main/fan#0`. */
function nodeOf(step: OpPath): string {
  return step.slice(step.indexOf('/') + 1, step.lastIndexOf('#'));
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
