/** Finds a run of a pipeline, with those that it resumed, and the outcome of each node: `mlld graph render --run`. */
export { openChain } from '../../session/pipeline/history/chain.js';
export { nodeStates } from '../../session/pipeline/history/node-states.js';
export { workflowFor } from '../../session/project.js';
export { pickRun } from '../../session/recorded-run.js';
