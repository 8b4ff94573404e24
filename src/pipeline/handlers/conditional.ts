/** A diamond: it looks at what came before it and calls nothing. graph-pipelines.md 6.3, 7.2. */
import { outcomeOf } from '../model/outcome.js';
import type { Handler } from './handler.js';

export const conditional: Handler = { isTransparent: true, handle: async () => outcomeOf('success') };
