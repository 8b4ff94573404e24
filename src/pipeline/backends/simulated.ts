/** A stand-in for a model, for drawings that are tried out. */
import type { Backend } from './select-backend.js';

export const simulatedBackend: Backend = {
  name: 'simulated',
  execute: async ({ node }) => ({ reply: `[Simulated] Response for stage: ${node.id}` }),
};
