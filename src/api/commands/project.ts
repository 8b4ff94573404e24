/** Finds the project that a command works in, and its scripts. */
export {
  findProject,
  findScript,
  isUpload,
  listScripts,
  scriptName,
  WORKFLOW_DIR,
  type Project,
  type WorkingProject,
} from '../../session/project.js';
export { LOCK_FILE } from '../../modules/published/lock.js';
