/**
 * Opens the journal of a run: decides whether it records, opens the store, reads the prior runs, and creates the run. What comes first in
 * it is decided in `start-recording.ts`.
 */
import type { Script } from '../../../grammar/ast.js';
import { isOfStore, isTaken, JournalError } from '../../../journal/errors.js';
import type { ContinuedRun, Journal, JournalStore, RunFile } from '../../../journal/store.js';
import { startOfRun } from '../../../replay/fold/fold-run.js';
import { servesAnotherRun } from '../../../replay/fold/record-of-upkeep.js';
import { cachePolicy } from '../../../replay/memo/policy.js';
import { MlldError } from '../../errors.js';
import { onOneLine } from '../../values/shortened.js';
import { hostFacts } from '../../world/host.js';
import type { World } from '../../world/world.js';
import { storeUrl } from '../project-store.js';
import { openRunStore } from '../run-store.js';
import { workflowFor } from '../project.js';
import { declarationsOf } from '../script/declarations.js';
import type { RunOptions } from '../script/run-options.js';
import { checkSharedBudgets } from '../script/shared-budgets.js';
import { nameUnknownSettings } from '../unknown-settings.js';
import { createRun } from './create-run.js';
import { createJournalWarnings, isOfOtherVersion } from './journal-warnings.js';
import { refuseWorkers } from './offers/workers-of-run.js';
import type { JournalPorts, OpenedJournal } from './opened-journal.js';
import { openPriorRuns, type OpenedPriorRuns } from './prior-runs.js';
import { readOnlyStore } from './read-only-store.js';
import { ignoredFlagsWarning, recordPath, refusedRecording } from './recording.js';
import { settleOrphans } from './settle-orphans.js';
import { startRecording, type AddedFacts, type BegunRun } from './start-recording.js';
import { unrecordedRun } from './unrecorded-run.js';

/** Throws what `--resume`, `--fork`, store and sealing key can be wrong about, SCRIPT_UNNAMED, ORPHANS_LEFT and INTERRUPTED. */
export async function openJournal(options: RunOptions, script: Script, ports: JournalPorts): Promise<OpenedJournal> {
  const { stderr } = options.io;
  nameUnknownSettings(options.project.config, stderr);
  const refused = refusedRecording(options, script);
  if (refused !== undefined) {
    const warning = ignoredFlagsWarning(options);
    if (warning !== undefined) stderr(`${warning}\n`);
    refuseWorkers(options, undefined);
    await checkSharedBudgets(ports.calls, undefined);
    return unrecordedRun(refused, options, ports);
  }
  const path = recordPath(options.script);
  const warnings = createJournalWarnings(stderr);
  const onLost = (error: Error, remains?: string): void => {
    const hasBudget = ports.calls.settings.budget !== undefined; // what an unrecorded run spends is nowhere to be seen (calls.md 20)
    if ((options.unrecorded !== true || hasBudget) && error instanceof JournalError) {
      const hint = options.unrecorded === true ? { hint: NO_BUDGET } : {};
      ports.calls.dispatcher.stop({ class: 'journal', message: error.message, error, ...hint, ...(isTaken(error) && { endsRun: true }) });
    }
    warnings.error(error, remains);
  };
  const store = await openStore(options, ports.world);
  refuseWorkers(options, store);
  await checkSharedBudgets(ports.calls, store);
  const prior = await readPriorRuns({ options, script, store, path, warnings, onLost });
  if (!prior) return unrecordedRun('failed', options, ports);
  const { keepOrphans = false } = options.cache;
  const settled = await settleOrphans(prior.loaded, { keepOrphans, stderr, signal: ports.signal });
  for (const notice of [...prior.notices, ...prior.advice]) stderr(`${notice}\n`);
  if (storeUrl(options) === undefined) await warnOfOtherRuns(options, store, prior.loaded.runs);
  const notice = options.workflow?.notice(prior);
  if (notice !== undefined) stderr(`${notice}\n`);
  const added: AddedFacts = { follow: () => undefined };
  const journal = await beginRun({ options, script, store, prior, warnings, onLost, added });
  return startRecording({
    options,
    script,
    ports,
    warnings,
    onLost,
    added,
    prior,
    settled,
    journal,
    store: journal ? store : readOnlyStore(store),
  });
}

const NO_BUDGET =
  'when the journal can be written, run it again with --resume; --unrecorded continues without a record where no budget is set';

/** Throws STORE_UNRECORDED. */
async function openStore(options: RunOptions, world: World): Promise<JournalStore> {
  const { project, environment, unrecorded, openStore: open } = options;
  if (unrecorded === true && !open && storeUrl({ project, environment }) !== undefined) {
    throw new MlldError(
      'STORE_UNRECORDED',
      "--unrecorded can't be used with the store of a team: no colleague would find what was paid for",
      {
        hint: 'MLLD_STORE=files in front of the command records on this machine',
      },
    );
  }
  return openRunStore(options, world);
}

type Opening = Pick<BegunRun, 'options' | 'script' | 'store' | 'warnings' | 'onLost'>;

/** Undefined when the journal can't be read. */
async function readPriorRuns({
  options,
  script,
  store,
  path,
  warnings,
  onLost,
}: Opening & { readonly path: string }): Promise<OpenedPriorRuns | undefined> {
  const { project, workingDirectory, cache } = options;
  try {
    return await openPriorRuns({
      store,
      project: { ...project, workingDirectory },
      workflow: workflowFor(project, path),
      cache,
      declarations: declarationsOf(script),
      onDefect: warnings.defect,
      pipeline: options.pipeline,
      resolveTarget: options.workflow?.resolveTarget,
      notOffered: options.workflow?.notOffered,
    });
  } catch (error) {
    if (!(error instanceof JournalError) || isOfOtherVersion(error)) throw error;
    onLost(error);
    return undefined;
  }
}

function goneOn({ ref: { run } }: ContinuedRun, name: string): MlldError {
  return new MlldError('RESUME_RUNNING', `another process has gone on with run ${run} of ${name}, or it is running again`, {
    hint: `mlld journal list ${name} shows its runs; when none is running, mlld run ${name} --resume goes on with the latest`,
  });
}

/**
 * Throws RESUME_RUNNING, and for a pipeline what is wrong with the store of a team. Undefined when the run can't be created: it then goes
 * without a record, and reuses what is recorded.
 */
async function beginRun({
  options,
  script,
  store,
  prior: { loaded, forks },
  warnings,
  onLost,
  added,
}: Opening & { readonly prior: OpenedPriorRuns; readonly added: AddedFacts }): Promise<Journal | undefined> {
  const continues = options.pipeline?.continues;
  try {
    return await createRun(store, loaded, options.io.nowMs, {
      waitMs: options.journalWaitMs,
      onOutage: warnings.outage,
      onLost: (error) => warnings.error(error),
      onTaken: onLost,
      continues,
      onAdded: (fact, recorded) => added.follow(fact, recorded),
    });
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    if (continues !== undefined && error.code === 'JOURNAL_RUN_IN_USE') throw goneOn(continues, options.name);
    if (options.pipeline && isOfStore(error)) throw error; // it does not run without a journal, and this names the remedy
    const { reuses } = cachePolicy({ flags: options.cache, header: script.resume, scope: undefined });
    const mayReuse = !options.pipeline && reuses !== 'no' && loaded.runs.length + forks.length > 0;
    onLost(error, mayReuse ? 'but results of earlier runs are reused' : undefined);
    return undefined;
  }
}

/** Only in the store of a team do runs wait for results of each other. One of this process is meant: a child pipeline in another branch. */
async function warnOfOtherRuns({ name, io }: RunOptions, store: JournalStore, runs: readonly RunFile[]): Promise<void> {
  const here = hostFacts();
  for (const file of runs) {
    if (file.liveness !== 'running' || servesAnotherRun(file)) continue;
    const start = await startOfRun(store, file.ref);
    if (start?.pid === here.pid && start.host === here.name) continue;
    const line = `run ${file.ref.run} of ${name} is still running: calls that both make are paid for twice, because neither waits for the other`;
    return io.stderr(`warning: ${onOneLine(line)}\n`);
  }
}
