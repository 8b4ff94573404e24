/**
 * Calls that a model makes while it answers, for backends that see them: shell commands of the pipeline stand around each. graph-pipelines.md 13.3.
 *
 * H1 A hook in front that ends with another status than 0 skips the call; whatever stands behind the call changes nothing.
 * H2 What a hook did is recorded, and so is that it failed.
 */
import type { Json } from '../../../journal/event.js';
import type { Frame } from '../../runtime/frame.js';
import { perform } from '../../operation/perform.js';
import type { Stage } from '../handlers/handler.js';
import { graphAttribute, nodeAttribute } from '../model/graph.js';
import { runStageCommand } from '../stage/run-stage-command.js';
import { withAbortSignal } from '../stage/with-abort-signal.js';

/** What the call gave, or why it was not made: the model is to be told so. */
export type ToolResult<T> = { readonly output: T } | { readonly skipped: string };

/** Runs `execute` between the hooks. Rejects with what `execute` rejects with. */
export type CallTool = <T extends Json>(tool: string, input: Json, execute: () => Promise<T>) => Promise<ToolResult<T>>;

const LIMIT_MS = 30_000;

export function toolCaller(stage: Stage, frame: Frame): CallTool {
  const hooks = { pre: hookOf(stage, 'tool_hooks.pre'), post: hookOf(stage, 'tool_hooks.post') };
  return async <T extends Json>(tool: string, input: Json, execute: () => Promise<T>) => {
    let answer: ToolResult<T> | undefined;
    await perform(frame, { kind: 'tool', segment: 'tool', name: tool, labels: [], inputs: [] }, async (inner) => {
      const fire = (event: 'pre' | 'post', more: object = {}): Promise<string | undefined> =>
        fireHook({ stage, frame: inner, event, command: hooks[event], tool, told: { node: stage.node.id, tool, input, ...more } });
      const skipped = await fire('pre');
      if (skipped !== undefined) {
        answer = { skipped }; // H1
        return null;
      }
      let output: T;
      try {
        output = await execute();
      } catch (error) {
        await fire('post', { error: error instanceof Error ? error.message : String(error) });
        throw error;
      }
      await fire('post', { output });
      answer = { output };
      return null;
    });
    if (!answer) throw new Error(`the call of ${tool} ended without an answer`);
    return answer;
  };
}

function hookOf({ node, run }: Stage, key: 'tool_hooks.pre' | 'tool_hooks.post'): string {
  return (nodeAttribute(node, key) ?? graphAttribute(run.pipeline.graph, key) ?? '').trim();
}

interface Firing {
  readonly stage: Stage;
  readonly frame: Frame;
  readonly event: 'pre' | 'post';
  readonly command: string;
  readonly tool: string;
  readonly told: object;
}

/** Undefined when it ended well, or there is none; else why not. */
async function fireHook({ stage, frame, event, command, tool, told }: Firing): Promise<string | undefined> {
  if (command === '') return undefined;
  const { recorder, monotonicMs } = frame.run;
  const startedMs = monotonicMs();
  const stdin = `${JSON.stringify({ event, ...told })}\n`;
  const error = await runHook(stage, frame, { command, stdin, tool });
  recorder.post({
    type: 'hook.fired',
    op: frame.op.path,
    hook: `tool_hooks.${event}`,
    timing: event === 'pre' ? 'before' : 'after',
    filter: tool,
    transformed: false,
    elapsedMs: Math.round((monotonicMs() - startedMs) * 1000) / 1000,
    ...(error === undefined ? {} : { error }),
  }); // H2
  return error;
}

async function runHook(
  stage: Stage,
  frame: Frame,
  { command, stdin, tool }: { readonly command: string; readonly stdin: string; readonly tool: string },
): Promise<string | undefined> {
  const late = new AbortController();
  const done = new AbortController();
  void frame.run.world.perform('clock.sleep', { ms: LIMIT_MS }, { signal: done.signal }).then(
    () => !done.signal.aborted && late.abort(),
    () => undefined, // the run ends
  );
  try {
    const { exitCode, stderr } = await runStageCommand(stage, withAbortSignal(frame, late.signal), command, {
      variables: { MLLD_TOOL_NAME: tool },
      stdin,
    });
    if (late.signal.aborted) return `the hook took longer than ${LIMIT_MS / 1000} s`;
    const last = stderr.trimEnd().split('\n').at(-1) ?? '';
    return exitCode === 0 ? undefined : `the hook ended with status ${exitCode}${last === '' ? '' : `: ${last}`}`;
  } finally {
    done.abort();
  }
}
