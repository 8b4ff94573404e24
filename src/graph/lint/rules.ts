/** The table of lint rules, in the order in which findings about one place are told. */
import type { LintRule } from './rule.js';
import { attributeUnknown } from './rules/attribute-unknown.js';
import { attributeValue } from './rules/attribute-value.js';
import { branchCondition } from './rules/branch-condition.js';
import { conditionOutcome } from './rules/condition-outcome.js';
import { conditionSyntax } from './rules/condition-syntax.js';
import { deadEnd } from './rules/dead-end.js';
import { edgeTargetExists } from './rules/edge-target-exists.js';
import { exitNoOutgoing } from './rules/exit-no-outgoing.js';
import { exitReachable } from './rules/exit-reachable.js';
import { fidelityValid } from './rules/fidelity-valid.js';
import { goalGateHasRetry } from './rules/goal-gate-has-retry.js';
import { humanChoices } from './rules/human-choices.js';
import { humanDefault } from './rules/human-default.js';
import { nodeId } from './rules/node-id.js';
import { parallelJoin } from './rules/parallel-join.js';
import { promptOnLlmNodes } from './rules/prompt-on-llm-nodes.js';
import { reachability } from './rules/reachability.js';
import { retryTargetExists } from './rules/retry-target-exists.js';
import { shapeKnown } from './rules/shape-known.js';
import { startNoIncoming } from './rules/start-no-incoming.js';
import { startNode } from './rules/start-node.js';
import { stylesheetSyntax } from './rules/stylesheet-syntax.js';
import { terminalNode } from './rules/terminal-node.js';
import { typeKnown } from './rules/type-known.js';

export const LINT_RULES: { readonly [id: string]: LintRule } = {
  start_node: startNode,
  terminal_node: terminalNode,
  reachability,
  edge_target_exists: edgeTargetExists,
  start_no_incoming: startNoIncoming,
  exit_no_outgoing: exitNoOutgoing,
  condition_syntax: conditionSyntax,
  stylesheet_syntax: stylesheetSyntax,
  attribute_value: attributeValue,
  human_choices: humanChoices,
  parallel_join: parallelJoin,
  node_id: nodeId,
  type_known: typeKnown,
  shape_known: shapeKnown,
  fidelity_valid: fidelityValid,
  retry_target_exists: retryTargetExists,
  goal_gate_has_retry: goalGateHasRetry,
  prompt_on_llm_nodes: promptOnLlmNodes,
  condition_outcome: conditionOutcome,
  branch_condition: branchCondition,
  human_default: humanDefault,
  dead_end: deadEnd,
  exit_reachable: exitReachable,
  attribute_unknown: attributeUnknown,
};
