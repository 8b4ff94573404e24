/** Lists the built-in lint rules, in the order in which findings about the same place are reported. */
import type { LintRule } from './rule.js';
import { attributeUnknown } from './rules/attributes/attribute-unknown.js';
import { attributeUnused } from './rules/attributes/attribute-unused.js';
import { attributeValue } from './rules/attributes/attribute-value.js';
import { branchCondition } from './rules/attributes/branch-condition.js';
import { conditionOutcome } from './rules/attributes/condition-outcome.js';
import { conditionSyntax } from './rules/attributes/condition-syntax.js';
import { deadEnd } from './rules/structure/dead-end.js';
import { edgeTargetExists } from './rules/structure/edge-target-exists.js';
import { exitNoOutgoing } from './rules/structure/exit-no-outgoing.js';
import { exitReachable } from './rules/structure/exit-reachable.js';
import { fidelityValid } from './rules/attributes/fidelity-valid.js';
import { goalGateHasRetry } from './rules/structure/goal-gate-has-retry.js';
import { humanChoices } from './rules/structure/human-choices.js';
import { humanDefault } from './rules/structure/human-default.js';
import { managerChild } from './rules/attributes/manager-child.js';
import { nodeId } from './rules/attributes/node-id.js';
import { parallelJoin } from './rules/structure/parallel-join.js';
import { promptOnLlmNodes } from './rules/attributes/prompt-on-llm-nodes.js';
import { reachability } from './rules/structure/reachability.js';
import { retryTargetExists } from './rules/structure/retry-target-exists.js';
import { shapeKnown } from './rules/attributes/shape-known.js';
import { startNoIncoming } from './rules/structure/start-no-incoming.js';
import { startNode } from './rules/structure/start-node.js';
import { stylesheetSyntax } from './rules/attributes/stylesheet-syntax.js';
import { terminalNode } from './rules/structure/terminal-node.js';
import { typeKnown } from './rules/attributes/type-known.js';

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
  manager_child: managerChild,
  condition_outcome: conditionOutcome,
  branch_condition: branchCondition,
  human_default: humanDefault,
  dead_end: deadEnd,
  exit_reachable: exitReachable,
  attribute_unknown: attributeUnknown,
  attribute_unused: attributeUnused,
};
