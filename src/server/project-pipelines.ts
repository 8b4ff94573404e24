/** Finds the pipelines of the project, and says what the run of one needs: the start form of the page is made of it. */
import path from 'node:path';
import { declaredInputs, diagnosePipeline, type Diagnostic, type PipelineInput, type Project } from '../api/pipeline-runs.js';
import type { World } from '../world/world.js';
import { HttpError } from './http-error.js';

const FILES_MAX = 500;

/** Describes a pipeline before it is started. `name` and `inputs` are empty when the text can't be run. */
export interface PipelineForm {
  readonly name: string;
  readonly goal: string;
  /** The text of the file. */
  readonly dot: string;
  readonly inputs: readonly {
    readonly key: string;
    readonly kind: PipelineInput['kind'];
    readonly default: string;
    readonly secret: boolean;
  }[];
  readonly diagnostics: readonly Diagnostic[];
}

type Files = Pick<World, 'perform'>;

/** Lists the paths of the project's pipelines, relative to its root; not those that were sent to a server. */
export async function listProjectPipelines(world: Files, { root }: Project): Promise<readonly string[]> {
  const { paths } = await world.perform('file.glob', { root, pattern: '**/*.dot' });
  return paths.slice(0, FILES_MAX).map((file) => path.relative(root, file).replaceAll(path.sep, '/'));
}

/** Reads a pipeline of the project. @throws HttpError when the list does not have it: a request names no other file */
export async function readProjectPipeline(
  world: Files,
  project: Project,
  name: string,
): Promise<{ readonly file: string; readonly dot: string }> {
  const file = path.join(project.root, name);
  const isListed = (await listProjectPipelines(world, project)).includes(name);
  const read = isListed ? await world.perform('file.read', { path: file }) : undefined;
  if (read && 'text' in read) return { file, dot: read.text };
  throw new HttpError(404, 'FILE_NOT_FOUND', `The project has no pipeline ${name}`, { hint: 'GET /files lists its pipelines' });
}

export function formOf(dot: string): PipelineForm {
  const { report, graph } = diagnosePipeline({ file: 'pipeline.dot', text: dot });
  const { diagnostics } = report;
  if (!graph) return { name: '', goal: '', dot, inputs: [], diagnostics };
  const inputs = declaredInputs(graph).map(({ key, kind, default: fallback, isSecret }) => ({
    key,
    kind,
    default: fallback,
    secret: isSecret,
  }));
  return { name: graph.name, goal: graph.attributes.get('goal')?.value.text ?? '', dot, inputs, diagnostics };
}
