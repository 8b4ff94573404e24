/** Runs a workflow script in this process. */
import { join } from 'node:path';

import type { CacheRequest, RunOptions } from '../../src/session/script/run-options.js';
import type { AgentConfig } from '../../src/session/agent-config.js';
import { runWorkflow, type WorkflowReport, type WorkflowSettings } from '../../src/session/workflow/run-workflow.js';

export interface ScriptRun {
  readonly result: string;
  readonly stderr: string;
  readonly report: WorkflowReport;
}

/** @param root the project, with the script `job.js` */
export async function runScript(
  root: string,
  {
    cache = {},
    agent,
    environment = {},
    signal = new AbortController().signal,
    ...settings
  }: Partial<WorkflowSettings> & {
    readonly cache?: CacheRequest;
    readonly agent?: AgentConfig;
    readonly environment?: RunOptions['environment'];
    readonly signal?: AbortSignal;
  } = {},
): Promise<ScriptRun> {
  let result = '';
  let stderr = '';
  const report = await runWorkflow(
    {
      script: { kind: 'file', path: join(root, 'job.js') },
      name: 'job',
      project: { root, config: { scriptDir: 'llm/run', prefixes: [], suppressWarnings: [], ...(agent && { agent }) } },
      workingDirectory: root,
      argv: [],
      payload: {},
      inject: [],
      state: [],
      cache,
      environment,
      errorBehavior: 'continue',
      streaming: true,
      structured: false,
      io: {
        stdin: async () => undefined,
        stdout: (text) => (result += text),
        stderr: (text) => (stderr += text),
        nowMs: () => 1_000,
        monotonicMs: () => performance.now(),
      },
      signal,
    },
    { args: [], backend: 'simulated', parallel: 4, ...settings },
  );
  return { result, stderr, report };
}
