/** Offers what may be written in a file that is no script: a pipeline or a template. */
import { withPlainLineEnds } from '../../../grammar/line-ends.js';
import { templateUsesIn } from '../../validate/linking/template-uses.js';
import { offsetAt, type Position } from '../positions.js';
import type { ProjectView } from '../project-view.js';
import { pipelineCompletionAt } from './pipelines.js';
import type { Suggestion } from './suggestion.js';

const TEMPLATE = /\.(?:att|mtt)$/i;

/** A file of another kind has nothing to offer. */
export async function completionBeside(
  absolute: string,
  written: string,
  position: Position,
  view: ProjectView,
): Promise<readonly Suggestion[]> {
  const text = withPlainLineEnds(written);
  const at = offsetAt(text, position);
  if (/\.dot$/i.test(absolute)) return pipelineCompletionAt(text, at);
  return TEMPLATE.test(absolute) ? templateCompletionAt(absolute, text, at, view) : [];
}

/** Offers the parameters of the functions that are made of a template, and the names around these functions. */
async function templateCompletionAt(absolute: string, text: string, at: number, view: ProjectView): Promise<readonly Suggestion[]> {
  const before = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  const isName = /\.mtt$/i.test(absolute) ? /\{\{\s*\w*$/ : /(?<![\w@\\])@[\w-]*$/;
  if (!isName.test(before)) return [];
  const uses = await templateUsesIn(view.workspace)(absolute);
  const params = new Set(uses.flatMap((use) => use.params));
  const around = new Set(uses.flatMap((use) => [...use.around]).filter((name) => !params.has(name)));
  return [
    ...[...params].map((label): Suggestion => ({ label, kind: 'variable', detail: 'parameter' })),
    ...[...around].map((label): Suggestion => ({ label, kind: 'variable' })),
  ];
}
