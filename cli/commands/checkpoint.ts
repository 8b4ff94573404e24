/** `mlld checkpoint list|inspect|clean SCRIPT`: lists what is recorded for a script, and invalidates it. checkpoint-resume.md 13. */
import {
  cleanScript,
  entriesOf,
  nearScript,
  openRecorded,
  recordedBy,
  runsOf,
  usable,
  type RecordedScript,
} from '../../src/api/commands/checkpoints.js';
import type { Io } from '../terminal/io.js';
import { openProject, reportDefects } from './open-project.js';
import { renderCleaned, renderEntries, renderLeft } from '../render/reports/checkpoint.js';

interface JsonOption {
  readonly json?: true;
}

export async function listEntries(io: Io, script: string, { json }: JsonOption): Promise<void> {
  const recorded = await recordOf(io, script);
  if (json) {
    io.stdout(`${JSON.stringify(recorded === undefined ? [] : await entriesOf(recorded), undefined, 2)}\n`);
    return;
  }
  const entries = recorded === undefined ? [] : [...usable(recorded.priorRuns.memo)].map(([, entry]) => entry);
  io.stdout(renderEntries(entries, { script, name: recorded?.name ?? script }));
}

export async function inspect(io: Io, script: string): Promise<void> {
  const recorded = await recordOf(io, script);
  const report =
    recorded === undefined
      ? { script, path: null, runs: [], entries: [] }
      : {
          script: recorded.name,
          path: recorded.priorRuns.workflow,
          runs: await runsOf(recorded, io.todayMs),
          entries: await entriesOf(recorded),
        };
  io.stdout(`${JSON.stringify(report, undefined, 2)}\n`);
}

/**
 * Invalidates by recording a run of its own: nothing is deleted, and the journal shows when and by whom it was done. A run with
 * events that this program does not know is left as it is, and named.
 */
export async function clean(io: Io, script: string, { json }: JsonOption): Promise<void> {
  const recorded = await recordOf(io, script);
  const cleaner = recordedBy({ argv: io.argv, ...io.program });
  const done = recorded && (await cleanScript(recorded, cleaner, io.todayMs));
  const { ref, left, ...counts } = done ?? { ref: undefined, left: [], runs: 0, entries: 0 };
  const cleaned = ref && recorded;
  if (json) {
    const common = cleaned === undefined ? { script } : { script: cleaned.name, path: cleaned.priorRuns.workflow };
    io.stdout(`${JSON.stringify({ ...common, ...counts, run: ref?.run, ...(left.length > 0 && { left }) }, undefined, 2)}\n`);
  } else io.stdout(renderCleaned(cleaned, script) + renderLeft(left));
}

async function recordOf(io: Io, script: string): Promise<RecordedScript | undefined> {
  const { project, store } = await openProject(io);
  const recorded = await openRecorded(store, project, script, reportDefects(io));
  if (recorded !== undefined) return recorded;
  const near = await nearScript(store, project, script);
  if (near !== undefined) io.stderr(`note: did you mean ${near}?\n`);
  return undefined;
}
