/** `mlld store copy|push|seal`: brings runs into the store of a team or back, and takes a run away from a writer that is gone. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { resolveRun } from '../../../src/api/recorded-runs.js';
import { copyRuns, describePush, openProjectStore, pushSpills, sealRun, type NotCopied } from '../../../src/api/commands/store.js';
import { MlldError } from '../../../src/errors.js';
import { oneLine } from '../../render/one-line.js';
import { counted } from '../../render/reports/garbage-collection.js';
import { EXIT_FAILED, EXIT_OK } from '../../exit-codes.js';
import type { Io } from '../../terminal/io.js';
import { openProject, projectOf, storeOf } from '../open-project.js';
import { refuseFiles } from './refuse-files.js';

interface JsonOption {
  readonly json?: true;
}

const BECAUSE: { readonly [B in NotCopied]: string } = {
  running: 'is in flight: copy again when it has ended',
  damaged: 'does not verify: mlld journal verify says what is lost',
  other: 'is there in another form, redacted or incomplete',
  elsewhere: 'has the id of a run of another script, which is there',
};

export async function copy(io: Io, { from, to, json }: JsonOption & { readonly from?: string; readonly to?: string }): Promise<number> {
  const folder = from ?? to;
  if (folder === undefined || (from !== undefined && to !== undefined)) {
    throw new MlldError('USAGE', 'mlld store copy needs --from DIR or --to DIR', {
      hint: 'mlld store copy --from . copies the runs of this folder',
    });
  }
  const project = await projectOf(io);
  refuseFiles(io, project, 'mlld store copy');
  const root = path.resolve(io.workingDirectory, folder);
  if (from !== undefined && !statSync(root, { throwIfNoEntry: false })?.isDirectory()) {
    throw new MlldError('USAGE', `mlld store copy --from ${from}: there is no such folder`, {
      hint: 'name the folder of a project: its runs are in .mlld/journal there',
    });
  }
  const place = { project: { ...project, root }, environment: { MLLD_STORE: 'files' }, sealingKey: 'none', stderr: io.stderr } as const;
  const files = { store: await openProjectStore(place), root };
  const team = { store: await storeOf(io, project), root: project.root };
  const report = await (from === undefined ? copyRuns(team, files) : copyRuns(files, team));
  const { copied, there, left } = report;
  if (json) io.stdout(`${JSON.stringify(report, undefined, 2)}\n`);
  else {
    const none =
      copied.length + there.length + left.length === 0
        ? `: none is recorded ${from === undefined ? 'in the store' : `below ${oneLine(from)}`}`
        : '';
    io.stdout(`Copied ${counted(copied.length, 'run')}${none}${there.length === 0 ? '' : `; ${there.length} were there already`}.\n`);
    for (const { ref, because } of left) io.stderr(`run ${ref.run} of ${oneLine(ref.workflow)} was left out: it ${BECAUSE[because]}\n`);
  }
  return left.length === 0 ? EXIT_OK : EXIT_FAILED;
}

export async function push(io: Io, { json }: JsonOption): Promise<number> {
  const { project, store } = await openProject(io);
  refuseFiles(io, project, 'mlld store push');
  const pushed = await pushSpills(store);
  if (json) {
    const report = pushed.map(({ ref, events, salvaged, error }) => ({ ...ref, events, salvaged, ...(error && { error: error.message }) }));
    io.stdout(`${JSON.stringify(report, undefined, 2)}\n`);
  } else if (pushed.length === 0) io.stdout('Nothing is kept here for this store.\n');
  else for (const each of pushed) (each.error === undefined ? io.stdout : io.stderr)(`${oneLine(describePush(each))}\n`);
  return pushed.some(({ error }) => error !== undefined) ? EXIT_FAILED : EXIT_OK;
}

export async function seal(io: Io, text: string, { json }: JsonOption): Promise<void> {
  const { project, store } = await openProject(io);
  const run = await resolveRun(store, project, text);
  await sealRun(store, run);
  const { ref } = run;
  io.stdout(json ? `${JSON.stringify(ref, undefined, 2)}\n` : `Sealed run ${ref.run} of ${oneLine(ref.workflow)}.\n`);
}
