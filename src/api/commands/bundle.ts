/** Puts runs with their blobs into one file, and adds them to another journal: `mlld journal bundle`, `mlld journal unbundle`. */
export { bundleRun, unbundleRuns } from '../../session/upkeep/bundle-run.js';
