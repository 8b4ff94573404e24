/** Finds the project that a command works in, and its scripts. */
export { findProject, findScript, isUpload, listScripts, scriptName, type Project, type WorkingProject } from '../../session/project.js';
export { LOCK_FILE } from '../../modules/published/lock.js';
