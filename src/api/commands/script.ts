/** Runs a script with the options of the command line: `mlld FILE`, `mlld run NAME`. `src/api/run.ts` is for programs. */
export { runScript } from '../../session/script/run-script.js';
export type { CacheRequest, RunOptions, RunReport, ScriptSource } from '../../session/script/run-options.js';
