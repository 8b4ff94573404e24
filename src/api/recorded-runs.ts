/** Finds recorded runs by what a person calls them: an id or its beginning, `latest`, a script by name, `nightly@2`. */
export { allRuns, findRun, recordedScript, resolveRun } from '../session/recorded-run.js';
