/**
 * The usual mistakes, and what to say about them. A rule of the grammar that found nothing it knows asks the function
 * named after what it expected. The function looks at the source and either throws, or returns false: then the
 * parser goes on, and if nothing else fits, what it expected at the furthest point becomes the message.
 *
 * S1 A function throws only for a text that is wrong under every reading, because nothing is tried after it.
 * S2 What is not closed is reported at the statement it stands in, everything else where it stands.
 */
export * from './statements.js';
export * from './bindings.js';
export * from './values.js';
export * from './code.js';
export * from './control.js';
export * from './effects.js';
export * from './instrumentation.js';
export { describe, strangeCharacter, type ErrorContext as Spot } from './error-context.js';
