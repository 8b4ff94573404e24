/** `mlld journal export RUN --format F`: writes a run in a format of other programs. */
import type { RunRef } from '../../../src/api/ids.js';
import type { Defect, JournalStore } from '../../../journal/store.js';
import { CALL_COLUMNS } from '../../../src/api/reports/export.js';
import { callRows } from '../../../replay/export/call-rows.js';
import { chromeTrace } from '../../../replay/export/chrome-trace.js';
import { otlpTraces } from '../../../replay/export/otlp.js';
import { foldRun } from '../../../src/api/fold.js';
import { timeline } from '../../../replay/reports/timeline/timeline.js';
import { resolveRun } from '../../../src/api/recorded-runs.js';
import type { Io } from '../../terminal/io.js';
import { openOutput, type Output } from '../../terminal/output-file.js';
import { openProject, reportDefects } from '../open-project.js';
import { csvLine } from '../../render/csv.js';

interface Exported {
  readonly io: Io;
  readonly store: JournalStore;
  readonly ref: RunRef;
  readonly isRunning: boolean;
  readonly output: Output;
  readonly onDefect: (defect: Defect) => void;
}

/** The table of commands lists these names as the choices of `--format`. */
const FORMATS = {
  'otlp-json': async (from: Exported) =>
    from.output.write(
      `${JSON.stringify(otlpTraces(from.ref, await timelineOf(from), { version: from.io.program.versions.mlld, isRunning: from.isRunning }))}\n`,
    ),
  'chrome-trace': async (from: Exported) => from.output.write(`${JSON.stringify(chromeTrace(from.ref, await timelineOf(from)))}\n`),
  ndjson: async ({ store, ref, output, onDefect }: Exported) => {
    await store.scan(ref, (event) => output.write(`${JSON.stringify(event)}\n`), { onDefect });
  },
  csv: async (from: Exported) => {
    from.output.write(csvLine(CALL_COLUMNS));
    for (const row of callRows(from.ref, await timelineOf(from))) from.output.write(csvLine(CALL_COLUMNS.map((column) => row[column])));
  },
} as const;

interface ExportOptions {
  readonly format: keyof typeof FORMATS;
  readonly output?: string;
}

export async function exportRun(io: Io, text: string, { format, output: file }: ExportOptions): Promise<void> {
  const { project, store } = await openProject(io);
  const { ref, liveness } = await resolveRun(store, project, text);
  const output = openOutput(io, file);
  await FORMATS[format]({ io, store, ref, isRunning: liveness === 'running', output, onDefect: reportDefects(io) });
  output.finish();
}

function timelineOf({ store, ref, onDefect }: Exported) {
  return foldRun(store, ref, timeline, { onDefect });
}
