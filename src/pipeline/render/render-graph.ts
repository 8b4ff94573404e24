/** Draws a pipeline as an SVG picture. */
import { SyntaxFailure } from '../../../grammar/errors.js';
import { parsePipeline } from '../../../grammar/parse-dot.js';
import { MlldError } from '../../errors.js';
import { toGraphviz } from './to-graphviz.js';
import type { NodeState } from './node-state.js';
import { preparePipeline } from '../model/prepare.js';
import { layout } from './layout.js';

/**
 * Draws pipelines with lint errors too, because a drawing helps to find them.
 *
 * @param states the states of nodes in a run, shown as colours
 * @throws MlldError with the code and place of a syntax error, and those of `layout`
 */
export async function renderGraph(
  { file, text }: { readonly file: string; readonly text: string },
  states?: ReadonlyMap<string, NodeState>,
): Promise<string> {
  return layout(readable({ file, text }, () => toGraphviz(parsePipeline(text), preparePipeline(text), states)));
}

function readable<T>({ file, text }: { readonly file: string; readonly text: string }, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SyntaxFailure)) throw error;
    const { code, message, at, hint } = error;
    throw new MlldError(code, message, { location: { file, at, text }, hint, cause: error });
  }
}
