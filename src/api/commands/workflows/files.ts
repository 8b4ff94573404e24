export { isOnPath } from '../../../session/workflow/agent-definition.js';
/** Finds workflow scripts by name, before anything of their runs is loaded. */
export { findWorkflow, isProgram, listWorkflows, unknownWorkflow } from '../../../session/workflow/workflow-files.js';
