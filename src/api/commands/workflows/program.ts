/** Runs a program of the library from its file: `mlld run FILE.mjs`. */
export { loadProgram } from '../../../session/workflow/load-program.js';
export { planWork } from '../../../session/workflow/plan-work.js';
export { runProgram } from '../../../session/workflow/run-program.js';
