/** Adds, lists, verifies and removes published modules: `mlld modules`. */
export { addModules, type AddedModule, type AddTarget } from '../session/modules/add-modules.js';
export {
  listModules,
  outdatedModules,
  removeModules,
  verifyModules,
  type ModuleCheck,
  type ModuleList,
  type OutdatedModule,
  type RemovedModules,
} from '../session/modules/look-at-modules.js';
