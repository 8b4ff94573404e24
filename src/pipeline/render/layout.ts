/**
 * Graphviz, compiled to WebAssembly: the one file that knows the package.
 *
 * It works in a thread of its own, because nothing can call a layout off that has begun: some hundred nodes with three
 * edges each keep it busy for many minutes, and denser graphs end on its stack, which has a fixed size.
 */
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { RenderResult } from '@viz-js/viz';
import { MlldError } from '../../errors.js';
import { cleanSvg } from './clean-svg.js';

const LAYOUT_MS_MAX = 30_000;

/** What the thread runs. It gets the path of the package, for it has no place from which to look for it. */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
require(workerData.graphviz).instance().then((graphviz) => {
  try {
    parentPort.postMessage(graphviz.render(workerData.text, { format: 'svg' }));
  } catch (error) {
    parentPort.postMessage({ status: 'gave up', reason: String(error) });
  }
});`;

type Answer = RenderResult | { readonly status: 'gave up'; readonly reason: string };

/**
 * @param text a graph in the language of Graphviz
 * @returns the text of an SVG file, cleaned
 * @throws MlldError GRAPH_NOT_DRAWN when Graphviz does not take the text, GRAPH_TOO_DENSE when the layout takes more than it has
 */
export async function layout(text: string, { limitMs = LAYOUT_MS_MAX }: { readonly limitMs?: number } = {}): Promise<string> {
  const answer = await inThread(text, limitMs);
  if (answer.status === 'gave up')
    throw new MlldError('GRAPH_TOO_DENSE', `The graph is too large or too dense to be laid out: ${answer.reason}`, {
      hint: 'move parts of it into pipelines of their own, each run by a node with `shape=house`',
    });
  // It calls a text that it read only in part a success, too.
  const reasons = answer.errors.filter(({ level }) => level !== 'warning').map(({ message }) => message);
  if (answer.status === 'success' && reasons.length === 0) return cleanSvg(answer.output);
  throw new MlldError('GRAPH_NOT_DRAWN', `Graphviz can't draw this graph: ${reasons.join('; ')}`, {
    hint: 'an attribute that only Graphviz reads may be wrong',
  });
}

async function inThread(text: string, limitMs: number): Promise<Answer> {
  const graphviz = createRequire(import.meta.url).resolve('@viz-js/viz');
  const worker = new Worker(THREAD, { eval: true, workerData: { graphviz, text }, stdout: true, stderr: true });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Answer>((resolve, reject) => {
      timer = setTimeout(() => resolve({ status: 'gave up', reason: `there was no result after ${limitMs / 1000} s` }), limitMs);
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
