/** `mlld journal export RUN --format F`: writes a run in a format of other programs. */
import type { Defect, JournalStore, RunFile } from '../../../journal/store.js';
import {
  ATTEMPT_COLUMNS,
  CALL_COLUMNS,
  exportAttempts,
  exportCalls,
  exportChromeTrace,
  exportOtlp,
} from '../../../src/api/reports/export.js';
import { pushOtlp } from '../../../src/api/reports/push-otlp.js';
import { MlldError } from '../../../src/errors.js';
import { resolveRun } from '../../../src/api/recorded-runs.js';
import type { Io } from '../../terminal/io.js';
import { openOutput, type Output } from '../../terminal/output-file.js';
import { openProject, reportDefects } from '../open-project.js';
import { csvLine } from '../../render/csv.js';
import { oneLine } from '../../render/one-line.js';

interface Exported {
  readonly withContent: boolean;
  readonly attempts: boolean;
  readonly store: JournalStore;
  readonly file: RunFile;
  readonly output: Output;
  readonly onDefect: (defect: Defect) => void;
}

/** The table of commands lists these names as the choices of `--format`. */
const FORMATS = {
  'otlp-json': async ({ store, file, output, onDefect, withContent }: Exported) =>
    output.write(`${JSON.stringify(await exportOtlp(store, file, { onDefect, withContent }))}\n`),
  'chrome-trace': async ({ store, file, output, onDefect }: Exported) =>
    output.write(`${JSON.stringify(await exportChromeTrace(store, file, { onDefect }))}\n`),
  ndjson: async ({ store, file, output, onDefect }: Exported) => {
    await store.scan(file.ref, (event) => output.write(`${JSON.stringify(event)}\n`), { onDefect });
  },
  csv: async ({ store, file, output, onDefect, attempts }: Exported) => {
    if (attempts) writeTable(output, ATTEMPT_COLUMNS, await exportAttempts(store, file, { onDefect }));
    else writeTable(output, CALL_COLUMNS, await exportCalls(store, file, { onDefect }));
  },
} as const;

function writeTable<C extends string>(
  output: Output,
  columns: readonly C[],
  rows: Iterable<{ readonly [column in C]: string | number | undefined }>,
): void {
  output.write(csvLine(columns));
  for (const row of rows) output.write(csvLine(columns.map((column) => row[column])));
}

interface ExportOptions {
  readonly format?: keyof typeof FORMATS;
  readonly output?: string;
  readonly withContent?: boolean;
  readonly attempts?: boolean;
  readonly endpoint?: string;
}

export async function exportRun(
  io: Io,
  text: string,
  { format, output: path, withContent = false, attempts = false, endpoint }: ExportOptions,
): Promise<void> {
  const isOtlp = format === undefined ? endpoint !== undefined : format === 'otlp-json';
  if (format === undefined && endpoint === undefined) {
    throw new MlldError('USAGE', '--format <format> is required by mlld journal export', {
      hint: `for example: mlld journal export latest --format csv; mlld journal export --help explains it`,
    });
  }
  if (!isOtlp && (withContent || endpoint !== undefined)) {
    throw new MlldError('USAGE', `${withContent ? '--with-content' : '--endpoint'} is for --format otlp-json`);
  }
  if (attempts && format !== 'csv')
    throw new MlldError('USAGE', '--attempts is for --format csv', { hint: 'other formats have the attempts' });
  const { project, store } = await openProject(io);
  const file = await resolveRun(store, project, text);
  const onDefect = reportDefects(io);
  if (endpoint !== undefined) return push(io, { store, file, onDefect, endpoint, withContent, attempts });
  const output = openOutput(io, path);
  await FORMATS[format ?? 'otlp-json']({ store, file, output, onDefect, withContent, attempts });
  output.finish();
}

async function push(
  io: Io,
  { store, file, endpoint, ...options }: Omit<Exported, 'output'> & { readonly endpoint: string },
): Promise<void> {
  const headers = headersIn(io.environment['OTEL_EXPORTER_OTLP_HEADERS']);
  const { spans, requests, rejected, message } = await pushOtlp(store, file, { ...options, endpoint, headers });
  io.stderr(`${spans} spans sent in ${requests} ${requests === 1 ? 'request' : 'requests'}\n`);
  if (rejected > 0 || message !== null) {
    throw new MlldError('EXPORT_FAILED', `The collector did not take ${rejected} spans${message === null ? '' : `: ${oneLine(message)}`}`);
  }
}

/** `name=value,name=value`, as the variable is defined; values may be percent-encoded. */
function headersIn(text = ''): { readonly [name: string]: string } {
  const pairs = text.split(',').flatMap((pair) => {
    const [, name, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
    return name === undefined || value === undefined ? [] : [[name.toLowerCase(), decoded(value)] as const];
  });
  return Object.fromEntries(pairs);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value; // a percent sign that encodes nothing
  }
}
