/** Replays a recorded run of a program of the library, with its body as it is now. workflows-js.md 15. */
import path from 'node:path';
import type { Json } from '../../../journal/event.js';
import { MlldError } from '../../errors.js';
import type { Context } from '../../workflows/program/context.js';
import { openProgram } from '../../workflows/program/create-context.js';
import { Branch } from '../../workflows/run/branch.js';
import type { ReplayWorkflow } from '../rerun/replay-options.js';
import { recordable } from './run-program.js';
import { replayWork } from './replay-work.js';

export function replayProgram(body: (context: Context, input: Json) => Promise<unknown>): ReplayWorkflow {
  return (run) => {
    const { started, file } = run;
    const module = { path: file, display: started.name, directory: path.dirname(file), text: '', isMain: true };
    return replayWork(run, module, async ({ frame, ports, clockMs, seed }) => {
      const branch = new Branch(frame, { phase: undefined, clockMs });
      const program = openProgram(
        { ...ports, seed, nowMs: () => 0, version: undefined, definitions: new Map(), parallel: PARALLEL },
        branch,
      );
      try {
        await program.run(() => body(program.context, started.payload));
      } catch (error) {
        throw error instanceof MlldError ? error : recordable(error, frame.run.signal);
      }
    });
  };
}

/** All that the record has may go on at once. */
const PARALLEL = Number.MAX_SAFE_INTEGER;
