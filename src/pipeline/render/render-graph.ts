/** A pipeline as an SVG picture. */
import { SyntaxFailure } from '../../../grammar/errors.js';
import { parsePipeline } from '../../../grammar/parse-dot.js';
import { MlldError } from '../../errors.js';
import { toGraphviz } from './to-graphviz.js';
import type { NodeState } from './node-state.js';
import { preparePipeline } from '../model/prepare.js';
import { layout } from './layout.js';

/**
 * Lint errors don't matter here: a drawing shows them best.
 *
 * @param states what came of the nodes in a run, for colours
 * @throws MlldError with the code and place of a syntax error, and those of `layOut`
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
