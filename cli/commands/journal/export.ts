/** `mlld journal export RUN --format F`: writes a run in a format of other programs. */
import type { Defect, JournalStore, RunFile } from '../../../journal/store.js';
import { CALL_COLUMNS, exportCalls, exportChromeTrace, exportOtlp } from '../../../src/api/reports/export.js';
import { resolveRun } from '../../../src/api/recorded-runs.js';
import type { Io } from '../../terminal/io.js';
import { openOutput, type Output } from '../../terminal/output-file.js';
import { openProject, reportDefects } from '../open-project.js';
import { csvLine } from '../../render/csv.js';

interface Exported {
  readonly store: JournalStore;
  readonly file: RunFile;
  readonly output: Output;
  readonly onDefect: (defect: Defect) => void;
}

/** The table of commands lists these names as the choices of `--format`. */
const FORMATS = {
  'otlp-json': async ({ store, file, output, onDefect }: Exported) =>
    output.write(`${JSON.stringify(await exportOtlp(store, file, { onDefect }))}\n`),
  'chrome-trace': async ({ store, file, output, onDefect }: Exported) =>
    output.write(`${JSON.stringify(await exportChromeTrace(store, file, { onDefect }))}\n`),
  ndjson: async ({ store, file, output, onDefect }: Exported) => {
    await store.scan(file.ref, (event) => output.write(`${JSON.stringify(event)}\n`), { onDefect });
  },
  csv: async ({ store, file, output, onDefect }: Exported) => {
    output.write(csvLine(CALL_COLUMNS));
    for (const row of await exportCalls(store, file, { onDefect })) output.write(csvLine(CALL_COLUMNS.map((column) => row[column])));
  },
} as const;

interface ExportOptions {
  readonly format: keyof typeof FORMATS;
  readonly output?: string;
}

export async function exportRun(io: Io, text: string, { format, output: path }: ExportOptions): Promise<void> {
  const { project, store } = await openProject(io);
  const file = await resolveRun(store, project, text);
  const output = openOutput(io, path);
  await FORMATS[format]({ store, file, output, onDefect: reportDefects(io) });
  output.finish();
}
