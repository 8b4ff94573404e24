/**
 * Executes the tool calls of a model between the shell commands in `tool_hooks.pre` and `tool_hooks.post`. Only a backend that sees tool
 * calls can use this. graph-pipelines.md 13.3.
 *
 * TOOL-HOOK-1 A pre hook that ends with a status other than 0 skips the call; a post hook changes nothing.
 * TOOL-HOOK-2 Every hook is recorded with its error, if it failed.
 */
import type { Json } from '../../../journal/event.js';
import { messageOf } from '../../errors.js';
import type { Frame } from '../../runtime/frame.js';
import { perform } from '../../operation/perform.js';
import type { Stage } from '../stage/stage.js';
import { graphAttribute, nodeAttribute } from '../model/graph.js';
import { runStageCommand } from '../stage/run-stage-command.js';
import type { CallTool, ToolResult } from '../stage/backend.js';
import { withAbortSignal } from '../stage/with-abort-signal.js';

const LIMIT_MS = 30_000;

export function toolCaller(stage: Stage, frame: Frame): CallTool {
  const hooks = { pre: hookOf(stage, 'tool_hooks.pre'), post: hookOf(stage, 'tool_hooks.post') };
  return async <T extends Json>(tool: string, input: Json, execute: () => Promise<T>) => {
    let result: ToolResult<T> | undefined;
    await perform(frame, { kind: 'tool', segment: 'tool', name: tool, labels: [], inputs: [] }, async (inner) => {
      const fire = (event: 'pre' | 'post', more: object = {}): Promise<string | undefined> =>
        fireHook({ stage, frame: inner, event, command: hooks[event], tool, input: { node: stage.node.id, tool, input, ...more } });
      const skipped = await fire('pre');
      if (skipped !== undefined) {
        result = { skipped }; // TOOL-HOOK-1
        return null;
      }
      let output: T;
      try {
        output = await execute();
      } catch (error) {
        await fire('post', { error: messageOf(error) });
        throw error;
      }
      await fire('post', { output });
      result = { output };
      return null;
    });
    if (!result) throw new Error(`the call of ${tool} ended without a result`);
    return result;
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
  /** Members of the JSON on the hook's standard input. */
  readonly input: object;
}

/** Returns why the hook failed; undefined when it succeeded or there is none. */
async function fireHook({ stage, frame, event, command, tool, input }: Firing): Promise<string | undefined> {
  if (command === '') return undefined;
  const { recorder, monotonicMs } = frame.run;
  const startedMs = monotonicMs();
  const stdin = `${JSON.stringify({ event, ...input })}\n`;
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
  }); // TOOL-HOOK-2
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
