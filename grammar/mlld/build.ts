/** Builders for the nodes that need more than an object literal in the grammar. */
export * from './build/text.js';
export * from './build/expressions.js';
export * from './build/code.js';
export * from './build/statements.js';
