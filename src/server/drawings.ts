/**
 * Draws runs with the states of their nodes. A layout occupies a core, so one is made at a time, and requests for the same drawing share
 * it.
 */
import type { JournalStore } from '../../journal/store.js';
import { type PipelineRun, renderGraph } from '../api/pipeline-runs.js';
import { HttpError } from './http-error.js';

export interface Drawings {
  /** Resolves with the text of an SVG file. */
  draw(run: PipelineRun): Promise<string>;
  /** Resolves with the text of the pipeline at the time of the run. */
  source(run: PipelineRun): Promise<string>;
}

const KEPT_MAX = 32;

export function createDrawings(store: JournalStore): Drawings {
  const kept = new Map<string, { readonly of: string; readonly picture: Promise<string> }>();
  let last: Promise<unknown> = Promise.resolve();

  async function source({ source: blob, status }: PipelineRun): Promise<string> {
    const bytes = blob && (await store.getBlob(blob));
    if (!bytes) throw new HttpError(404, 'SOURCE_MISSING', `The journal no longer has the text of ${status.pipeline_name}`);
    return Buffer.from(bytes).toString('utf8');
  }

  function lay(run: PipelineRun, nodes: ReturnType<PipelineRun['nodes']>): Promise<string> {
    const drawing = last.then(async () => renderGraph({ file: `${run.status.pipeline_name}.dot`, text: await source(run) }, nodes));
    last = drawing.catch(() => undefined);
    return drawing;
  }

  return {
    source,
    draw(run) {
      const { id } = run.logicalRun;
      const nodes = run.nodes();
      const of = JSON.stringify([run.source, [...nodes]]);
      const known = kept.get(id);
      if (known?.of === of) return known.picture;
      const picture = lay(run, nodes);
      kept.delete(id);
      kept.set(id, { of, picture });
      const oldest = kept.size > KEPT_MAX ? [...kept.keys()][0] : undefined;
      if (oldest !== undefined) kept.delete(oldest);
      picture.catch(() => kept.delete(id));
      return picture;
    },
  };
}
