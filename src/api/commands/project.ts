/** Finds the project that a command works in, and its scripts. */
export { findProject, findScript, isUpload, listScripts, scriptName, type Project, type WorkingProject } from '../../session/project.js';
