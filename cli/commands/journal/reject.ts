/** `mlld journal reject RUN PATH`: marks the result of a call as bad, so that the next run executes the call again. calls.md 15.1. */
import { scriptName } from '../../../src/api/commands/project.js';
import { recordedBy, rejectResult, restoreResult, type Marking } from '../../../src/api/commands/checkpoints.js';
import { resolveRun } from '../../../src/api/recorded-runs.js';
import { MlldError } from '../../../src/errors.js';
import { clip, oneLine } from '../../render/one-line.js';
import type { Io } from '../../terminal/io.js';
import { openProject, reportDefects } from '../open-project.js';

interface RejectOptions {
  readonly reason?: string;
  readonly undo?: true;
  readonly json?: true;
}

export async function reject(io: Io, text: string, path: string, { reason, undo, json }: RejectOptions): Promise<void> {
  if (undo && reason !== undefined) throw new MlldError('USAGE', '--undo takes a rejection back and has no --reason');
  const { project, store } = await openProject(io);
  const file = await resolveRun(store, project, text);
  const name = scriptName(project, file.ref.workflow);
  const by = recordedBy({ argv: io.argv, ...io.program });
  const request = { store, file, path, name, by, nowMs: io.todayMs, onDefect: reportDefects(io) };
  const marking = undo ? await restoreResult(request) : await rejectResult({ ...request, reason });
  io.stdout(json ? `${JSON.stringify(marking, undefined, 2)}\n` : render(marking));
}

const PREVIEW_UNITS_MAX = 60;

function render({ fn, preview, op, run, marked, isUsable, around, inside }: Marking): string {
  const call = oneLine(`@${fn}(${preview === null ? '' : clip(preview, PREVIEW_UNITS_MAX)}) at ${op} of run ${run}`);
  const names = oneLine([...new Set(around)].map((name) => `@${name}`).join(', '));
  const calls = around.length === 1 ? `the call of ${names} around it` : `the ${around.length} calls around it (${names})`;
  if (marked === 'rejected') {
    const marks =
      around.length === 0
        ? `Rejected the result of ${call}: the call is executed again when a run next makes it.\n`
        : `Rejected the result of ${call}, and with it that of ${calls}: they are executed again when a run next makes them.\n`;
    return inside === null ? marks : `${marks}${keptInside(inside)}`;
  }
  const also = around.length === 0 ? '' : `, with that of ${calls}`;
  return isUsable
    ? `Took the rejection back: the result of ${call} is usable again${also}.\n`
    : `Took the rejection of ${call} back; the result has been replaced or invalidated since, which stays so.\n`;
}

/** A function that does little but make calls has the same result again when those are reused. */
function keptInside({ count, first }: NonNullable<Marking['inside']>): string {
  return count === 1
    ? `1 result of a call inside it is reused, the one at ${oneLine(first)}: reject that as well if it is bad.\n`
    : `${count} results of calls inside it are reused, the first at ${oneLine(first)}: reject those that are bad as well.\n`;
}
