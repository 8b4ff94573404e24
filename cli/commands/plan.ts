/** `--plan`: prints what a run with these flags would reuse and execute. Nothing runs. */
import { planScript } from '../../src/api/commands/plan.js';
import { EXIT_OK } from '../exit-codes.js';
import type { Io } from '../terminal/io.js';
import { reportStyle } from '../render/style.js';
import { renderPlan } from '../render/reports/plan.js';
import { optionsFor, type Execution } from './run-script.js';

export async function planCommand(io: Io, execution: Execution): Promise<number> {
  const options = {
    ...(await optionsFor(io, execution)),
    io: { stdin: io.stdin, stdout: io.document, stderr: io.stderr, nowMs: io.todayMs, monotonicMs: io.nowMs },
    signal: new AbortController().signal,
  };
  const { storeOf } = await import('./open-project.js');
  const report = await planScript(options, await storeOf(io, execution.project));
  io.stdout(execution.request.json ? `${JSON.stringify(report, undefined, 2)}\n` : renderPlan(report, reportStyle(io)));
  return EXIT_OK;
}
