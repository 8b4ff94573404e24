/**
 * Recognises usual mistakes in pipelines, among them what Graphviz allows and mlld doesn't, and explains them. A rule of the grammar that
 * finds nothing it knows calls the function that is named after what it expected.
 *
 * DOT-MISTAKE-1 A function throws only for a text that is wrong under every reading, because nothing is tried after it.
 * DOT-MISTAKE-2 Whatever is not closed is reported where it was opened, every other mistake at its place.
 */
export * from './graph.js';
export * from './statements.js';
export * from './values.js';
export * from './conditions.js';
export * from './stylesheets.js';
