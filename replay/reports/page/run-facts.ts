/** Folds what a page shows of a run beside its operations: what it was started with, the sources it read, what it wrote. */
import type { EventOf, Payload } from '../../../journal/event.js';
import type { BlobId } from '../../../journal/ids.js';
import type { Projection } from '../../fold/projection.js';

export interface RunFacts {
  started: EventOf<'run.started'> | undefined;
  /** By path; the last one that was read. */
  readonly sources: Map<string, Pick<EventOf<'source.loaded'>, 'role' | 'module'> & { readonly blob: BlobId | undefined }>;
  /** The texts written to standard output, in order; `writes` counts those beyond `WRITES_KEPT` too. */
  readonly output: Payload[];
  writes: number;
  /** The digest of the last content that was written, by path. */
  readonly files: Map<string, BlobId>;
}

const WRITES_KEPT = 2000;

/** Folds the events of one run. */
export const runFacts: Projection<RunFacts> = {
  initial: () => ({ started: undefined, sources: new Map(), output: [], writes: 0, files: new Map() }),
  apply(state, event) {
    switch (event.type) {
      case 'run.started':
        state.started = event;
        break;
      case 'source.loaded': {
        const { blob, role, module } = event;
        state.sources.set(event.path, { blob, role, ...(module && { module }) });
        break;
      }
      case 'effect.performed':
        if (event.file !== undefined && event.kind !== 'file.read') state.files.set(event.subject, event.file);
        else if (event.kind === 'stream.write' && event.subject.startsWith('stdout') && event.result !== undefined) {
          state.writes += 1;
          if (state.output.length < WRITES_KEPT) state.output.push(event.result);
        }
        break;
      default:
        break;
    }
    return state;
  },
};
