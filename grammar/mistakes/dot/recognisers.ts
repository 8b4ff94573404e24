/**
 * What people write in a pipeline that Graphviz allows and we don't, or that nobody allows, and what to say about it.
 * A rule of the grammar that found nothing it knows asks the function named after what it expected.
 *
 * S1 A function throws only for a text that is wrong under every reading, because nothing is tried after it.
 * S2 What is not closed is reported where it was opened, everything else where it stands.
 */
export * from './graph.js';
export * from './statements.js';
export * from './values.js';
export * from './conditions.js';
export * from './stylesheets.js';
