/**
 * Recognises usual mistakes and explains them. A rule of the grammar that finds nothing it knows calls the function that is named after
 * what it expected. The function examines the source and either throws, or returns false: then the parser continues, and if nothing else
 * fits, what it expected at the furthest point becomes the message.
 *
 * MISTAKE-1 A function throws only for a text that is wrong under every reading, because nothing is tried after it.
 * MISTAKE-2 Whatever is not closed is reported at its statement, every other mistake at its place.
 */
export * from './statements.js';
export * from './bindings.js';
export * from './values.js';
export * from './code.js';
export * from './control.js';
export * from './effects.js';
export * from './instrumentation.js';
export { describe, strangeCharacter } from './error-context.js';
