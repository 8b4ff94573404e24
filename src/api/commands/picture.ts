/** Draws a pipeline: `mlld graph render`. */
export { renderGraph } from '../../pipeline/render/render-graph.js';
