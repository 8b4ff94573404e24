/** `mlld journal verify RUN`: checks that the record of a run is complete and undamaged. */
import { verifyRun } from '../../../src/api/reports/verify.js';
import { findRun } from '../../../src/api/recorded-runs.js';
import { EXIT_FAILED, EXIT_OK } from '../../exit-codes.js';
import type { Io } from '../../terminal/io.js';
import { openProject } from '../open-project.js';
import { renderVerification } from '../../render/reports/journal.js';
import { reportStyle } from '../../render/style.js';

export async function verify(io: Io, text: string, { json }: { readonly json?: true }): Promise<number> {
  const { project, store } = await openProject(io);
  const { ref } = await findRun(store, project, text);
  const report = await verifyRun(store, ref);
  const all = [report, ...report.serving];
  if (json) io.stdout(`${JSON.stringify(report, undefined, 2)}\n`);
  else for (const each of all) io.stdout(renderVerification(each, reportStyle(io)));
  return all.every(({ ok }) => ok) ? EXIT_OK : EXIT_FAILED;
}
