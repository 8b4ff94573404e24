/** Folds which files a run read that it did not make itself: prompts in templates, and data. */
import type { BlobId } from '../../journal/ids.js';
import type { Projection } from '../fold/projection.js';

export interface FilesRead {
  /** Maps the absolute path of each file to the digest of its text when the run first read it. */
  readonly first: Map<string, BlobId>;
  /** Absolute paths of files that the run wrote, which differ because of the run. */
  readonly written: Set<string>;
}

/** Leaves out scripts and modules, whose changed definitions a plan names, and files whose text or path the journal may not have. */
export const filesRead: Projection<FilesRead> = {
  initial: () => ({ first: new Map(), written: new Set() }),
  apply(state, event) {
    if (event.type !== 'effect.performed') return state;
    const { kind, subject, file } = event;
    if (kind === 'file.write' || kind === 'file.append' || kind === 'file.remove' || kind === 'file.restore') state.written.add(subject);
    const isKnown = kind === 'file.read' && file !== undefined && !/\.(mld|mlld|mld\.md)$|…$/i.test(subject);
    if (isKnown && !state.first.has(subject)) state.first.set(subject, file);
    return state;
  },
};
