/** Creates the state that all code of a run shares, and the frame of its first statement. */
import { createInterceptors } from './interceptors.js';
import { CooperativeYield } from '../../runtime/cooperative-yield.js';
import { evaluate, evaluator } from '../../language/evaluate.js';
import { PLAIN, type Frame, type RunState } from '../../runtime/frame.js';
import { OUTERMOST } from '../../runtime/context.js';
import { RunUsage } from '../../runtime/calls/run-usage.js';
import type { Module } from '../../runtime/module.js';
import { OpNode } from '../../runtime/op-node.js';
import type { RunOptions } from './run-options.js';
import { CollectedFailures } from '../../values/failures.js';
import { Warnings } from './warnings.js';

type Ports = Pick<RunState, 'world' | 'replayed' | 'recorder' | 'cache' | 'secrets' | 'document' | 'settings' | 'state' | 'signal'> &
  Partial<Pick<RunState, 'calls' | 'trace' | 'watchOutput'>>;

export function createRunState({ options, ...ports }: Ports & { readonly options: Pick<RunOptions, 'io' | 'verbose'> }): RunState {
  const { io, verbose: isVerbose = false } = options;
  const warnings = new Warnings((message) => io.stderr(`warning: ${ports.secrets.hideParts(message)}\n`), isVerbose);
  return {
    ...ports,
    evaluator,
    interceptors: createInterceptors(ports.world),
    hookErrors: [],
    failures: new CollectedFailures(),
    failedCommands: [],
    usage: new RunUsage(),
    unrecordedResults: 0,
    stateWrites: [],
    denials: [],
    modules: new Map(),
    checkpoints: new Set(),
    deniedInside: new WeakSet(),
    repeatedInside: new WeakMap(),
    cooperativeYield: new CooperativeYield(ports.signal),
    monotonicMs: io.monotonicMs,
    isVerbose,
    warn: (message, cause = message) => warnings.add(message, cause),
    writeWarnings: () => warnings.end(),
  };
}

export function rootFrame(run: RunState, module: Module, execute: Frame['execute']): Frame {
  return {
    run,
    module,
    scope: module.scope,
    op: OpNode.root(),
    context: { ...OUTERMOST, errors: { list: [] } },
    within: 'script',
    evaluate,
    execute,
    ...PLAIN,
  };
}
