/** `mlld store status|migrate`: the store of a team. team-store.md 1. */
import { migrateStore, storeStatus, type StoreStatus } from '../../../src/api/commands/store.js';
import { MlldError } from '../../../src/errors.js';
import { counted } from '../../render/reports/garbage-collection.js';
import { oneLine } from '../../render/one-line.js';
import { size } from '../../render/units.js';
import { styleFor, type Style } from '../../render/style.js';
import type { Io } from '../../terminal/io.js';
import { projectOf } from '../open-project.js';
import { renderBudgets, warnOfDamaged } from './budget.js';
import { waitingLine } from './worker.js';

interface JsonOption {
  readonly json?: true;
}

export async function status(io: Io, { json }: JsonOption): Promise<void> {
  const report = await storeStatus({ project: await projectOf(io), environment: io.environment, stderr: io.stderr });
  if (json) return io.stdout(`${JSON.stringify(report, undefined, 2)}\n`);
  io.stdout(textOf(report, styleFor(io.colours.stdout)));
  warnOfDamaged(io, report.damaged ?? []);
}

export async function migrate(io: Io, options: JsonOption & { readonly dryRun?: true; readonly yes?: true }): Promise<void> {
  const place = { project: await projectOf(io), environment: io.environment, stderr: io.stderr };
  const dryRun = options.dryRun === true;
  const report = await migrateStore(place, {
    dryRun,
    asSuperuser: options.yes === true,
    onWait: (holder) => io.stderr(`waiting for another process that migrates the store: ${oneLine(holder)}\n`),
  });
  if (report === undefined) {
    throw new MlldError('USAGE', 'mlld store migrate: the runs of this project are kept in files', {
      hint: "MLLD_STORE='postgres://ada@db.example/mlld?project=acme/patrol' names a store",
    });
  }
  if (options.json) return io.stdout(`${JSON.stringify(report, undefined, 2)}\n`);
  const { store, migrations, to, roles } = report;
  io.stdout(
    migrations.length === 0
      ? `${oneLine(store)}: the tables are of version ${to} already\n`
      : migrations.map(({ version, title }) => `${dryRun ? 'would make' : 'made'} version ${version}: ${title}\n`).join(''),
  );
  if (roles === undefined) return;
  if (roles.ready.length > 0) io.stdout(`gave their rights to ${roles.ready.join(', ')}\n`);
  if (roles.missing.length > 0) {
    const statements = roles.missing.map((name) => `create role ${name} nologin;`).join(' ');
    io.stderr(
      `warning: your user may not make the roles ${roles.missing.join(', ')}\n  hint: a superuser says ${statements} then migrate again\n`,
    );
  }
}

function textOf({ store, server, schema, bytes, runs, budgets = [], offers }: StoreStatus, style: Style): string {
  if (store === null) return 'files below .mlld/journal\n';
  return [
    oneLine(store),
    `PostgreSQL ${oneLine(server ?? '')}, tables of version ${schema?.version}, ${size(bytes ?? 0)} in all projects`,
    `${counted(runs?.total ?? 0, 'run')} in this project, ${runs?.alive} alive`,
    ...(offers === undefined || offers.waiting === 0 ? [] : [waitingLine(offers)]),
    ...(budgets.length === 0 ? [] : ['', ...renderBudgets(budgets, style)]),
    '',
  ].join('\n');
}
