/** The evaluator maps each kind of node to a function. A new construct is a grammar rule, a node type, one function and one row here. */
import type { Expression, ExpressionTypes, Statement, StatementTypes } from '../../grammar/ast.js';
import { executeExport } from '../modules/exports.js';
import { executeImport } from '../modules/import.js';
import { isSilenced } from './statements/statement-kinds.js';
import { flow, type Value } from '../values/value.js';
import { executeIf, runInSequence, evaluateBlock } from './statements/block.js';
import { executeCheckpoint } from './statements/checkpoint.js';
import { call } from './calls/call.js';
import { evaluateInlineCode } from './code/inline-code.js';
import type { Completion } from '../runtime/completion.js';
import { executeBail, executeControl, executeReturn } from './statements/control-flow.js';
import { executeExe, executeGuard, executeHook, executeShadow } from './statements/declarations.js';
import type { Evaluator } from '../runtime/ports.js';
import { evaluateFor, executeFor } from './loops/for.js';
import { evaluateForeach } from './loops/foreach.js';
import type { Frame } from '../runtime/frame.js';
import { evaluateArray, evaluateObject } from './expressions/literals.js';
import { evaluateLoad } from './files/load.js';
import { evaluateLoop, executeLoop } from './loops/loop.js';
import { evaluateNew } from './calls/host-functions.js';
import { actionOutcome } from './statements/action-outcome.js';
import { evaluateBinary, evaluateDenied, evaluateSubject, evaluateTernary, evaluateUnary } from './expressions/operators.js';
import { evaluateLeadingGroup, evaluatePipeline, sendThrough } from './pipelines/pipeline.js';
import { evaluateChain, evaluateReference, lookUp } from './expressions/reference.js';
import { executeCall, executeLog, executeProse, executeRun, executeShow } from './statements/show.js';
import { evaluateTemplate, renderParts } from './expressions/template.js';
import { executeAppendTo, executeLet, executeVar } from './statements/variables.js';
import { evaluateWhen, executeWhen } from './statements/when.js';
import { evaluateStream, evaluateWith } from './calls/with-options.js';
import { executeFile, executeFiles } from './files/write-files.js';
import { executeAppend, executeOutput } from './files/output.js';

type Expressions = { readonly [K in keyof ExpressionTypes]: (node: ExpressionTypes[K], frame: Frame) => Promise<Value> };
type Statements = { readonly [K in keyof StatementTypes]: (node: StatementTypes[K], frame: Frame) => Promise<Completion> };

const expressions: Expressions = {
  literal: async (node) => node.value,
  template: evaluateTemplate,
  array: evaluateArray,
  object: evaluateObject,
  reference: evaluateReference,
  chain: evaluateChain,
  regex: async (node) => `/${node.source}/${node.flags}`,
  unary: evaluateUnary,
  binary: evaluateBinary,
  ternary: evaluateTernary,
  subject: evaluateSubject,
  denied: evaluateDenied,
  load: evaluateLoad,
  pipeline: evaluatePipeline,
  'leading-group': evaluateLeadingGroup,
  code: evaluateInlineCode,
  stream: evaluateStream,
  with: evaluateWith,
  when: evaluateWhen,
  for: evaluateFor,
  foreach: evaluateForeach,
  loop: evaluateLoop,
  block: evaluateBlock,
  new: evaluateNew,
  labelled: async (node, frame) => flow(await evaluate(node.value, frame), [], node.labels),
  'template-file': async () => {
    throw new Error('a template file is the body of a function only');
  },
};

const statements: Statements = {
  prose: executeProse,
  fence: async (node, frame) => frame.execute(node.statements, frame),
  var: executeVar,
  let: executeLet,
  'append-to': executeAppendTo,
  exe: executeExe,
  shadow: executeShadow,
  show: executeShow,
  run: executeRun,
  call: executeCall,
  log: executeLog,
  output: executeOutput,
  append: executeAppend,
  file: executeFile,
  files: executeFiles,
  if: executeIf,
  when: executeWhen,
  for: executeFor,
  loop: executeLoop,
  return: executeReturn,
  control: executeControl,
  bail: executeBail,
  import: executeImport,
  export: executeExport,
  needs: async () => undefined, // `mlld validate` and the preflight check it
  hook: executeHook,
  guard: executeGuard,
  checkpoint: executeCheckpoint,
};

/** Lets constructs evaluate their parts through `runtime/evaluator-ports.ts`, so that none of them imports this table. */
export const evaluator: Evaluator = { lookUp, call, render: renderParts, stages: sendThrough, outcome: actionOutcome };

export function evaluate(node: Expression, frame: Frame): Promise<Value> {
  // Sound because the table's type pairs every kind with its own node type.
  const rule = expressions[node.kind] as (node: Expression, frame: Frame) => Promise<Value>;
  return rule(node, frame);
}

/** Runs statements one after the other; the first completion ends the sequence. */
export function execute(list: readonly Statement[], frame: Frame): Promise<Completion> {
  return runInSequence(list, frame, async (node) => {
    if (isSilenced(node, frame)) return undefined;
    return (statements[node.kind] as (node: Statement, frame: Frame) => Promise<Completion>)(node, frame);
  });
}
