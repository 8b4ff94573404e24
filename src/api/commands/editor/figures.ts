/** Reads from the journal how the functions of a script did in its last runs, for the lines that an editor shows above them. */
import { openFileStore } from '../../../../journal/storage/file-store.js';
import { findProject, workflowFor } from '../../../session/project.js';
import { statsOf, type FunctionFigures } from '../../reports/stats.js';
import { allRuns } from '../../recorded-runs.js';
import path from 'node:path';

export type { FunctionFigures } from '../../reports/stats.js';

export interface RecordedFigures {
  readonly runs: number;
  /** Is `project` for a file that was never run itself, such as a module: then the runs are those of all workflows. */
  readonly of: 'script' | 'project';
  readonly functions: ReadonlyMap<string, FunctionFigures>;
}

/** Every event of each run is read. */
const RUNS_MAX = 20;

/** Throws CONFIG_INVALID, and `JournalError` when the disk fails. Reports show no sealed results, so no key is needed. */
export async function figuresOf(absolute: string): Promise<RecordedFigures> {
  const project = await findProject(path.dirname(absolute));
  const store = openFileStore(project.root, { sealingKey: 'none' });
  const own = workflowFor(project, absolute);
  const isScript = (await allRuns(store, own)).length > 0;
  const { total, functions } = await statsOf(store, { ...(isScript && { workflow: own }), last: RUNS_MAX });
  return { runs: total.runs, of: isScript ? 'script' : 'project', functions: new Map(functions.map((each) => [each.fn, each])) };
}
