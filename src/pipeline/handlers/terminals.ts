/** `start` does nothing and succeeds. The exit is never handled: the traversal commits it itself. graph-pipelines.md 6.2, 7.1. */
import { outcomeOf } from '../model/outcome.js';
import type { Handler } from './handler.js';

export const start: Handler = { handle: async () => outcomeOf('success') };
