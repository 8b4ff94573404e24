/** Finds workflow scripts by name, before anything of their runs is loaded. */
export { findWorkflow, isProgram, isWorkflowPath, listWorkflows, unknownWorkflow } from '../../../session/workflow/workflow-files.js';
