/** `mlld journal cat RUN PATH`: prints the arguments and the result of one call, whole. */
import type { Json } from '../../../journal/event.js';
import { readCall, type CallRecord, type ReadPayload } from '../../../src/api/reports/call.js';
import { resolveRun } from '../../../src/api/recorded-runs.js';
import { MlldError } from '../../../src/errors.js';
import { renderCall } from '../../render/reports/call.js';
import { reportStyle } from '../../render/style.js';
import type { Io } from '../../terminal/io.js';
import { openProject, reportDefects } from '../open-project.js';

interface CatOptions {
  readonly prompt?: true;
  readonly result?: true;
  readonly json?: true;
}

export async function cat(io: Io, run: string, path: string, { prompt, result, json }: CatOptions): Promise<void> {
  if ([prompt, result, json].filter(Boolean).length > 1)
    throw new MlldError('USAGE', 'Only one of --prompt, --result and --json can be given');
  const { project, store } = await openProject(io);
  const call = await readCall(store, await resolveRun(store, project, run), path, { onDefect: reportDefects(io) });
  if (json) io.stdout(`${JSON.stringify(call, undefined, 2)}\n`);
  else if (prompt) io.document(alone(call, 'arguments', onlyText(call.arguments)));
  else if (result) io.document(alone(call, 'result', call.result));
  else io.stdout(renderCall(call, reportStyle(io)));
}

/** The one text that most models get. */
function onlyText(given: ReadPayload): ReadPayload {
  if (!('value' in given) || !Array.isArray(given.value) || given.value.length !== 1) return given;
  return { value: given.value[0] as Json };
}

/** A text ends with a line end, as a file does. */
function alone({ op, run }: CallRecord, what: string, payload: ReadPayload): string {
  if (!('value' in payload)) {
    throw new MlldError('PAYLOAD_MISSING', `The ${what} of ${op} in run ${run} can't be printed: ${payload.missing}`, {
      hint: `mlld journal cat ${run} '${op}' prints what there is`,
    });
  }
  const text = typeof payload.value === 'string' ? payload.value : JSON.stringify(payload.value, undefined, 2);
  return text.endsWith('\n') ? text : `${text}\n`;
}
