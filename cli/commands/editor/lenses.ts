/** Shows above each `exe llm` how it did in the last runs. The journal is read when the editor shows such a line, and not before. */
import type { FunctionFigures, RecordedFigures } from '../../../src/api/commands/editor/figures.js';
import { llmFunctionsOf, readableScript, type Editor } from '../../../src/api/commands/editor/texts.js';
import { messageOf } from '../../../src/errors.js';
import { duration, money } from '../../render/units.js';
import type { Io } from '../../terminal/io.js';
import type { CodeLens, Connection } from './language-server-protocol.js';
import { fileOf } from './uris.js';

interface LensData {
  readonly file: string;
  readonly name: string;
}

const PERCENT = 100;

type FiguresReader = (file: string) => Promise<RecordedFigures | undefined>;

export function answerLenses(connection: Connection, editor: Editor, io: Pick<Io, 'environment' | 'nowMs'>): void {
  /** Holds the figures of a file from the first of its lines to the next request for all of them. */
  const figures = new Map<string, Promise<RecordedFigures | undefined>>();
  let reader: Promise<FiguresReader> | undefined;
  const figuresOf: FiguresReader = async (file) => {
    reader ??= import('../../../src/api/commands/editor/figures.js').then(({ figuresReader }) =>
      figuresReader({ environment: io.environment, nowMs: io.nowMs, log: (line) => connection.console.warn(line) }),
    );
    return (await reader)(file);
  };

  connection.onCodeLens(async ({ textDocument }) => {
    const file = fileOf(textDocument.uri);
    if (file === undefined) return [];
    figures.delete(file);
    const script = await readableScript(file, await editor.viewFor(file));
    return (script ? llmFunctionsOf(script) : []).map(({ name, range }) => ({ range, data: { file, name } satisfies LensData }));
  });
  connection.onCodeLensResolve(async (lens): Promise<CodeLens> => {
    const { file, name } = lens.data as LensData;
    const known = figures.get(file) ?? figuresOf(file);
    figures.set(file, known);
    const title = await known.then(
      (recorded) => (recorded === undefined ? '' : titleOf(recorded, recorded.functions.get(name))),
      (error: unknown) => `the journal can't be read: ${messageOf(error)}`,
    );
    // A line without a command only shows its text.
    return { ...lens, command: { title, command: '' } };
  });
}

/** `48 calls in 6 runs · 92% reused · median 4.1s · $1.20` */
function titleOf({ runs, of }: RecordedFigures, fn: FunctionFigures | undefined): string {
  const calls = fn ? fn.executed + fn.reused + fn.failed : 0;
  if (!fn || calls === 0) return runs === 0 ? 'no recorded runs' : `no calls in the last ${inRuns(runs, of)}`;
  const { hitRate, medianMs, costUsd, failed } = fn;
  return [
    `${calls} ${calls === 1 ? 'call' : 'calls'} in the last ${inRuns(runs, of)}`,
    ...(hitRate === null ? [] : [`${Math.round(hitRate * PERCENT)}% reused`]),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(medianMs === null ? [] : [`median ${duration(medianMs)}`]),
    ...(costUsd === null ? [] : [money(costUsd)]),
  ].join(' · ');
}

function inRuns(runs: number, of: RecordedFigures['of']): string {
  return `${runs === 1 ? 'run' : `${runs} runs`}${of === 'project' ? ' of the project' : ''}`;
}
