/** Reads a pipeline's file, and checks the graph in it. */
import { withPlainLineEnds } from '../../../grammar/line-ends.js';
import { MlldError } from '../../errors.js';
import type { Graph } from '../../pipeline/model/graph.js';
import { diagnosePipeline, type DiagnoseOptions, type Diagnostic, type PipelineDiagnostics } from '../../pipeline/lint/diagnostics.js';
import type { PipelineRunOptions } from './run-pipeline-options.js';
import { isUpload, workflowFor } from '../project.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import type { World } from '../../world/world.js';

interface LoadedGraph {
  readonly text: string;
  /** Absent if lint refused it. */
  readonly graph?: Graph;
  /** The first finding, if the caller does not listen to findings. */
  readonly refusal?: MlldError;
}

export async function loadGraph(options: PipelineRunOptions, world: World): Promise<LoadedGraph> {
  const read = await world.perform('file.read', { path: options.file });
  if (!('text' in read)) {
    throw new MlldError(
      'FILE_NOT_FOUND',
      read.missing === 'absent' ? `There is no file ${options.name}` : `${options.name} can't be read: ${read.detail}`,
      options.resume === undefined ? {} : { hint: hintForResume(options) },
    );
  }
  const text = withPlainLineEnds(read.text);
  const { transforms = [], rules = [], handlers, backends, backend } = options;
  const { report, graph } = diagnosePipeline(
    { file: options.name, text },
    withoutUndefined<DiagnoseOptions>({
      transforms,
      rules,
      backend,
      handlers: new Set(handlers?.keys() ?? []),
      backends: new Set(backends?.keys() ?? []),
    }),
  );
  options.onFindings?.(report);
  if (graph) return { text, graph };
  return options.onFindings ? { text } : { text, refusal: refusedPipeline(report, text) };
}

/** With the store of a team, the run may be of another folder or machine. A text that was sent lies only in the folder of its server. */
function hintForResume({ project, file }: PipelineRunOptions): string {
  return isUpload(workflowFor(project, file))
    ? 'its text was sent to a server in another folder: resume it there, or send the text again, which starts a new run'
    : 'resume it in the folder that has this file';
}

function refusedPipeline({ file, diagnostics }: PipelineDiagnostics, text: string): MlldError {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const [{ rule, message, fix, line, column }] = errors as [Diagnostic];
  const more = errors.length === 1 ? '' : ` (and ${errors.length - 1} more)`;
  const lineStart = text.split('\n', line - 1).reduce((length, { length: ofLine }) => length + ofLine + 1, 0);
  const location = { file, at: lineStart + column - 1, text };
  return new MlldError('PIPELINE_INVALID', `${rule}: ${message}${more}`, { location, hint: fix });
}
