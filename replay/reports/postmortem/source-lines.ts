/** Lines of the sources that a run read, as it read them: the files may be others by now. */
import type { BlobId } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';

/** `llm/run/job.mld:12:9`, or without a column, or a path alone. */
const PLACE = /^(?<file>.*?):(?<line>\d+)(?::\d+)?$/;
const LINE_UNITS_MAX = 160;

/** `sources`: by path. Undefined where the place names no line, or the text is gone. */
export type SourceLines = (place: string | undefined) => Promise<string | undefined>;

export function sourceLines(store: JournalStore, sources: ReadonlyMap<string, BlobId>): SourceLines {
  const texts = new Map<BlobId, readonly string[]>();
  return async (place) => {
    const { file = '', line } = PLACE.exec(place ?? '')?.groups ?? {};
    const path = line === undefined ? undefined : sourceAt([...sources.keys()], file);
    const blob = path === undefined ? undefined : sources.get(path);
    if (blob === undefined) return undefined;
    let lines = texts.get(blob);
    if (lines === undefined) {
      const content = await store.getBlob(blob);
      lines = content === undefined ? [] : Buffer.from(content).toString('utf8').split('\n');
      texts.set(blob, lines);
    }
    return lines[Number(line) - 1]?.trim().slice(0, LINE_UNITS_MAX);
  };
}

/**
 * Returns the path of the source that a place is in: a place is relative to the working directory of the run, a source to the project's
 * folder, so that one path may end with the other.
 */
export function sourceAt(paths: readonly string[], file: string): string | undefined {
  if (paths.includes(file)) return file;
  const bare = file.replace(/^(\.{1,2}\/)+/, '');
  const matches = paths.filter((path) => path.endsWith(`/${bare}`) || bare.endsWith(`/${path}`) || path === bare);
  return matches.length === 1 ? matches[0] : undefined;
}
