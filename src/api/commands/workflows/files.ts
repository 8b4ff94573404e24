export { isOnPath } from '../../../world/files/search-path.js';
/** Finds workflow scripts by name, before anything of their runs is loaded. */
export { findWorkflow, isProgram, listWorkflows, unknownWorkflow } from '../../../session/workflow/workflow-files.js';
