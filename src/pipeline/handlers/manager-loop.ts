/** Handles a manager node, which supervises the run of another pipeline. graph-pipelines.md 7.8. */
import path from 'node:path';
import { parseCondition } from '../../../grammar/parse-dot.js';
import { pausedElsewhere } from '../../calls/dispatch/paused-elsewhere.js';
import { holds } from '../model/condition.js';
import type { ChildRun } from '../stage/child-run.js';
import { CHILD_RUN_KEY } from '../model/context-keys.js';
import { graphAttribute, nodeAttribute, type Graph, type GraphNode } from '../model/graph.js';
import { outcomeOf, StageError, type Routing, type StageOutcome, type Updates } from '../model/outcome.js';
import type { Stage } from '../stage/stage.js';
import type { Handler } from './handler.js';

export const MANAGER_TYPE = 'stack.manager_loop';
const POLL_MS = 45_000;
const CYCLES_MAX = 1_000;
const COOLDOWN_MS = 300_000;
const ACTIONS = 'observe,wait';

export const managerLoop: Handler = {
  isTimed: true,
  async handle(stage) {
    const child = await childOf(stage);
    const ownsChild = startsChild(stage.node);
    try {
      return await supervise(stage, child);
    } finally {
      if (ownsChild) {
        child.interrupt();
        await child.ended; // a child never outlives its manager
      }
    }
  },
};

/** Returns false for a manager that watches a run which something else has started. */
export function startsChild(node: GraphNode): boolean {
  return nodeAttribute(node, 'stack.child_autostart') ?? true;
}

/** Returns the file of the child pipeline; undefined where the graph names none. */
export function childFile(graph: Graph, directory: string): string | undefined {
  const written = graphAttribute(graph, 'stack.child_dotfile') ?? '';
  return written === '' ? undefined : path.resolve(directory, written);
}

async function childOf(stage: Stage): Promise<ChildRun> {
  const { run, node, context, frame } = stage;
  if (!startsChild(node)) {
    const id = context[CHILD_RUN_KEY];
    const found = typeof id === 'string' ? await run.findChild(id) : undefined;
    if (!found)
      throw new StageError(
        'permanent',
        `${node.id} has no run to watch: set the context key stack.child.run_id to its id (it is ${JSON.stringify(id ?? null)})`,
      );
    return found;
  }
  const { graph } = run.pipeline;
  const file = childFile(graph, run.fileDirectory);
  if (file === undefined)
    throw new StageError('permanent', `${node.id} has no child pipeline: name its file in the graph attribute stack.child_dotfile`);
  const workdir = graphAttribute(graph, 'stack.child_workdir') || undefined;
  return run.startChild({
    node: node.id,
    op: frame.op.path,
    isOnlyManager: [...graph.nodes.keys()].every((id) => id === node.id || run.pipeline.handlerOf(id) !== MANAGER_TYPE),
    file,
    workingDirectory: workdir === undefined ? undefined : path.resolve(run.workingDirectory, workdir),
    signal: stage.signal,
  });
}

async function supervise(stage: Stage, child: ChildRun): Promise<StageOutcome> {
  const { node, frame, signal } = stage;
  const actions = new Set((nodeAttribute(node, 'manager.actions') ?? ACTIONS).split(',').map((action) => action.trim()));
  const written = nodeAttribute(node, 'manager.stop_condition') ?? '';
  const stop = written.trim() === '' ? undefined : parseCondition(written);
  const pollMs = nodeAttribute(node, 'manager.poll_interval') ?? POLL_MS;
  const steer = steering(stage, child);
  let observed: Updates = {};
  for (let cycle = 0; cycle < (nodeAttribute(node, 'manager.max_cycles') ?? CYCLES_MAX); cycle++) {
    if (actions.has('observe')) observed = await telemetry(child);
    if (actions.has('steer')) await steer();
    const { status, error, stop: stopped } = await child.observe();
    const { calls } = frame.run;
    // The attempt does not end: a resume repeats it, and with it resumes the child.
    if (stopped && calls) return pausedElsewhere(calls.dispatcher, stopped, { op: frame.op.path, fn: node.id });
    if (status !== 'running') {
      // A manager that doesn't observe notices the end as well.
      if (actions.has('observe')) observed = await telemetry(child);
      if (status === 'completed') return outcomeOf('success', { context_updates: observed });
      throw new StageError('permanent', `the child pipeline ${status}${error === undefined ? '' : `: ${error}`}`, observed);
    }
    const context = { ...stage.context, ...observed };
    if (stop && holds(stop, { routing: routingIn(context), context })) {
      return outcomeOf('success', { context_updates: observed, notes: 'the stop condition holds' });
    }
    if (signal.aborted) break;
    if (actions.has('wait')) await Promise.race([child.ended, frame.run.world.perform('clock.sleep', { ms: pollMs })]);
    else await frame.run.world.perform('clock.sleep', { ms: 0 }); // so that the child can continue under a manager that never waits
  }
  throw new StageError('permanent', 'manager.max_cycles is reached and the child is still running', observed);
}

/** Reads the routing of the stage before from the context; it is empty while no stage has ended. */
function routingIn({ outcome = '', preferred_label = '' }: Updates): Pick<Routing, 'status' | 'preferred_label'> {
  return { status: outcome as Routing['status'], preferred_label: preferred_label as string };
}

async function telemetry(child: ChildRun): Promise<Updates> {
  const { status, outcome, currentNode, completed, retries } = await child.observe();
  return {
    [CHILD_RUN_KEY]: child.runId,
    'stack.child.status': status,
    'stack.child.outcome': outcome,
    'stack.child.current_node': currentNode,
    'stack.child.completed': completed,
    'stack.child.retries': retries,
  };
}

/** Writes the node's prompt into the folder of the child's current stage, at most once per cooldown. */
function steering({ node, frame }: Stage, child: ChildRun): () => Promise<void> {
  const prompt = nodeAttribute(node, 'prompt') ?? '';
  const cooldownMs = nodeAttribute(node, 'manager.steer_cooldown') ?? COOLDOWN_MS;
  const { world, monotonicMs } = frame.run;
  let nextMs = -Infinity;
  return async () => {
    const folder = await child.stageFolder();
    if (prompt === '' || folder === undefined || monotonicMs() < nextMs) return;
    nextMs = monotonicMs() + cooldownMs;
    await world.perform('file.write', { path: path.join(folder, 'steer.md'), text: prompt });
  };
}
