/** `mlld store rebuild`: makes anew what the store of a team derives from its journals. team-store.md 12. */
import { rebuildStore, type RebuildReport } from '../../../src/api/commands/store.js';
import { sumText } from '../../../src/api/commands/limits/shared-budgets.js';
import type { Io } from '../../terminal/io.js';
import { oneLine } from '../../render/one-line.js';
import { counted } from '../../render/reports/garbage-collection.js';
import { openProject } from '../open-project.js';
import { refuseFiles } from './refuse-files.js';

interface RebuildFlags {
  readonly dryRun?: true;
  readonly json?: true;
}

export async function rebuild(io: Io, { dryRun, json }: RebuildFlags): Promise<void> {
  const { project, store } = await openProject(io);
  refuseFiles(io, project, 'mlld store rebuild');
  const report = await rebuildStore(store, { dryRun: dryRun === true });
  io.stdout(json ? `${JSON.stringify(report, undefined, 2)}\n` : textOf(report));
  if (report.damagedRuns.length > 0) io.stderr(`warning: ${oneLine(damageOf(report.damagedRuns))}\n`);
}

/** Runs that one line names. */
const NAMED_MAX = 5;

function damageOf(runs: RebuildReport['damagedRuns']): string {
  const [first, second] = runs;
  if (first !== undefined && second === undefined) {
    const { run, workflow, lines } = first;
    return `run ${run} of ${workflow} has ${counted(lines, 'damaged line')} left out here: mlld journal verify ${run} says what is lost`;
  }
  const named = runs.slice(0, NAMED_MAX).map((damaged) => damaged.run);
  const more = runs.length > named.length ? `, and ${runs.length - named.length} more that --json names` : '';
  return `${runs.length} runs have damaged lines left out here: ${named.join(', ')}${more}; mlld journal verify RUN says what is lost`;
}

function textOf({ dryRun, results, claims, offers, budgets }: RebuildReport): string {
  const { total, added, changed, removed } = results;
  const differ = added + changed + removed;
  const how = [
    [added, 'missing'],
    [changed, 'changed'],
    [removed, 'removed'],
  ] as const;
  const details = how.flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`])).join(', ');
  return [
    differ === 0
      ? `The index of ${counted(total, 'result')} is what the journals say.`
      : `${dryRun ? 'Would make' : 'Made'} the index of ${counted(total, 'result')} anew: ${details}.`,
    `${dryRun ? 'Would free' : 'Freed'} ${counted(claims, 'claim')} and ${counted(offers, 'offer')}.`,
    ...budgets.map(({ name, unit, spent, spentBefore }) =>
      spent === spentBefore
        ? `Budget ${name}: ${sumText(spent, unit)} spent, as before.`
        : `Budget ${name}: ${sumText(spent, unit)} spent, ${dryRun ? 'and now it says' : 'and it said'} ${spentBefore === null ? 'what is no amount' : sumText(spentBefore, unit)}.`,
    ),
    '',
  ].join('\n');
}
