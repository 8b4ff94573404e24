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
  io.stdout(json ? `${JSON.stringify(report, undefined, 2)}\n` : renderVerification(report, reportStyle(io)));
  return report.ok ? EXIT_OK : EXIT_FAILED;
}
