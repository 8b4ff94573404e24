/**
 * Lays graphs out with Graphviz, compiled to WebAssembly. No other file imports the package.
 *
 * Graphviz runs in a thread of its own, because a layout can't be cancelled: a hundred nodes with three edges each keep it busy for many
 * minutes, and denser graphs overflow its stack, which has a fixed size.
 */
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { RenderResult } from '@viz-js/viz';
import { MlldError } from '../../errors.js';
import { cleanSvg } from './clean-svg.js';

const LAYOUT_MS_MAX = 30_000;

/** The program of the thread. It is handed the path of the package, because it can't resolve it from a text. */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
require(workerData.graphviz).instance().then((graphviz) => {
  try {
    parentPort.postMessage(graphviz.render(workerData.text, { format: 'svg' }));
  } catch (error) {
    parentPort.postMessage({ status: 'gave up', reason: String(error) });
  }
});`;

type LayoutResult = RenderResult | { readonly status: 'gave up'; readonly reason: string };

/**
 * @param text a graph in the language of Graphviz
 * @returns the text of an SVG file, cleaned
 * @throws MlldError GRAPH_NOT_DRAWN when Graphviz refuses the text, GRAPH_TOO_DENSE when the layout takes too much time or memory
 */
export async function layout(text: string, { limitMs = LAYOUT_MS_MAX }: { readonly limitMs?: number } = {}): Promise<string> {
  const result = await inThread(text, limitMs);
  if (result.status === 'gave up')
    throw new MlldError('GRAPH_TOO_DENSE', `The graph is too large or too dense to be laid out: ${result.reason}`, {
      hint: 'move parts of it into separate pipelines, each run by a node with `shape=house`',
    });
  // Graphviz also reports success for a text that it read only in part.
  const reasons = result.errors.filter(({ level }) => level !== 'warning').map(({ message }) => message);
  if (result.status === 'success' && reasons.length === 0) return cleanSvg(result.output);
  throw new MlldError('GRAPH_NOT_DRAWN', `Graphviz can't draw this graph: ${reasons.join('; ')}`, {
    hint: 'check the attributes that only Graphviz reads',
  });
}

async function inThread(text: string, limitMs: number): Promise<LayoutResult> {
  const graphviz = createRequire(import.meta.url).resolve('@viz-js/viz');
  const worker = new Worker(THREAD, { eval: true, workerData: { graphviz, text }, stdout: true, stderr: true });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<LayoutResult>((resolve, reject) => {
      timer = setTimeout(() => resolve({ status: 'gave up', reason: `the layout took longer than ${limitMs / 1000} s` }), limitMs);
      worker.on('message', resolve);
      worker.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve({ status: 'gave up', reason: 'it does not fit into memory' });
        else reject(error);
      });
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
