/**
 * Reads from the journal how the functions of a script did in its last runs, for the lines that an editor shows above them.
 *
 * LENSES-1 The store of a team is opened when the first line is shown, is read for a file at most once a minute, and is asked for nothing
 *          while it is away. That is said once in the log, and not above functions: it is no problem of the script.
 */
import type { JournalStore } from '../../../../journal/store.js';
import { messageOf } from '../../../errors.js';
import { findProject, workflowFor, type Project } from '../../../session/project.js';
import { openProjectStore, storeUrl } from '../../../session/project-store.js';
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

interface FiguresOptions {
  readonly environment: { readonly [name: string]: string | undefined };
  readonly nowMs: () => number;
  readonly log: (line: string) => void;
}

/** Every event of each run is read. */
const RUNS_MAX = 20;
const FRESH_MS = 60_000;

/** Returns a function that reads the figures of a file; undefined while the store of the team is away. */
export function figuresReader(options: FiguresOptions): (absolute: string) => Promise<RecordedFigures | undefined> {
  const { environment, nowMs, log } = options;
  const stores = new Map<string, Promise<JournalStore>>();
  const recent = new Map<string, { readonly atMs: number; readonly figures: Promise<RecordedFigures | undefined> }>();
  const logged = new Set<string>();

  function logOnce(line: string): void {
    if (!logged.has(line)) log(line);
    logged.add(line);
  }

  function openStore(project: Project): Promise<JournalStore> {
    return openProjectStore({ project, environment, sealingKey: 'none', stderr: (text) => logOnce(text.trimEnd()) });
  }

  /** LENSES-1 */
  async function ofTeam(project: Project, url: string, absolute: string): Promise<RecordedFigures | undefined> {
    const place = `${project.root}\n${url}`;
    const store = stores.get(place) ?? openStore(project);
    stores.set(place, store);
    try {
      return await figuresIn(await store, project, absolute);
    } catch (error) {
      stores.delete(place);
      logOnce(`the figures above functions can't be read: ${messageOf(error)}`);
      return undefined;
    }
  }

  return async (absolute) => {
    const project = await findProject(path.dirname(absolute));
    const url = storeUrl({ project, environment });
    if (url === undefined) return figuresIn(await openStore(project), project, absolute);
    const known = recent.get(absolute);
    if (known !== undefined && nowMs() - known.atMs < FRESH_MS) return known.figures;
    const figures = ofTeam(project, url, absolute);
    recent.set(absolute, { atMs: nowMs(), figures });
    return figures;
  };
}

/** Throws `JournalError` when the disk or the server fails. Reports show no sealed results, so no key is needed. */
async function figuresIn(store: JournalStore, project: Project, absolute: string): Promise<RecordedFigures> {
  const own = workflowFor(project, absolute);
  const isScript = (await allRuns(store, own)).length > 0;
  const { total, functions } = await statsOf(store, { ...(isScript && { workflow: own }), last: RUNS_MAX });
  return { runs: total.runs, of: isScript ? 'script' : 'project', functions: new Map(functions.map((each) => [each.fn, each])) };
}
