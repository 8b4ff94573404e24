/** `mlld store rebuild`: makes anew what the store of a team derives from its journals. team-store.md 12. */
import { rebuildStore, type RebuildReport } from '../../../src/api/commands/store.js';
import { sumText } from '../../../src/api/commands/limits/shared-budgets.js';
import type { Io } from '../../terminal/io.js';
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
