/** Keeps the parts of an index in files beside it. See `IndexFiles`. */
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { makeDurableFolder, produceDurably, writeAll, type Disk } from './disk.js';
import { codeOf, journalError } from '../errors.js';
import type { Workflow } from '../ids.js';
import { runPath, tierOfFile, tierPath, unfinishedTier, unfinishedTierPath, workflowFolder } from './layout.js';
import { scanFileNow } from '../reader.js';
import type { IndexFile, IndexFiles, ListedIndexFile } from '../store.js';

/** So many bytes are written before the event loop continues. */
const PAUSE_BYTES = 4 * 1024 * 1024;

type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** Files in a folder of this machine. */
export interface IndexFolder extends IndexFiles {
  /** Writes a file under a name that another machine gave it. */
  put(workflow: Workflow, name: string, pieces: Pieces): Promise<void>;
  /** Removes what killed processes have left of files that they began so long ago. */
  removeUnfinished(workflow: Workflow, ageMs: number): Promise<void>;
}

/** Undefined for what is not a name for a part of an index. Names begin with the time at which the part was written. */
export function partNameOf(name: string): ListedIndexFile | undefined {
  return tierOfFile(`${name}.tier`) === undefined ? undefined : { name, ageMs: Date.now() - Number.parseInt(name, 36) };
}

export function openIndexFiles(disk: Disk, journal: string): IndexFolder & Required<Pick<IndexFiles, 'scanNow'>> {
  const pathOf = (workflow: Workflow, name: string): string => {
    if (partNameOf(name) === undefined) throw new Error(`not a name for a part of an index: ${name}`);
    return tierPath(journal, workflow, name);
  };
  async function put(workflow: Workflow, name: string, pieces: Pieces): Promise<void> {
    const path = pathOf(workflow, name);
    try {
      await makeDurableFolder(disk, dirname(path));
      await writePieces(disk, path, pieces);
    } catch (error) {
      if (codeOf(error) === undefined) throw error;
      throw journalError(error, `write ${path}`);
    }
  }
  /** A file that nothing refers to any more is closed: whoever looks results up has no moment at which that is over. */
  const closing = new FinalizationRegistry<number>((file) => disk.close(file));
  return {
    async list(workflow) {
      const names = await disk.list(workflowFolder(journal, workflow));
      return names.flatMap((file) => partNameOf(tierOfFile(file) ?? '') ?? []);
    },
    open(workflow, name) {
      try {
        const file = disk.openToRead(pathOf(workflow, name));
        const opened = new OpenIndexFile(disk, file, disk.sizeOf(file));
        closing.register(opened, file);
        return opened;
      } catch (error) {
        if (codeOf(error) === undefined) throw error;
        return undefined;
      }
    },
    async write(workflow, pieces) {
      const name = newPartName();
      await put(workflow, name, pieces);
      return name;
    },
    put,
    async removeUnfinished(workflow, ageMs) {
      const folder = workflowFolder(journal, workflow);
      for (const file of await disk.list(folder)) {
        const begunMs = unfinishedTier(file);
        if (begunMs !== undefined && Date.now() - begunMs > ageMs) await disk.remove(join(folder, file));
      }
    },
    remove: (workflow, name) => disk.remove(pathOf(workflow, name)),
    scanNow: (ref, visit) => void scanFileNow(disk, runPath(journal, ref), ref, visit),
  };
}

export function newPartName(): string {
  return `${Date.now().toString(36)}-${randomBytes(4).toString('hex')}`;
}

class OpenIndexFile implements IndexFile {
  constructor(
    private readonly disk: Disk,
    private readonly file: number,
    readonly bytes: number,
  ) {}

  read(offset: number, bytes: number): Buffer {
    const content = Buffer.allocUnsafe(bytes);
    let filled = 0;
    while (filled < bytes) {
      const count = this.disk.read(this.file, content, filled, bytes - filled, offset + filled);
      if (count === 0) break;
      filled += count;
    }
    return content.subarray(0, filled);
  }
}

async function writePieces(disk: Disk, path: string, pieces: Pieces): Promise<void> {
  const temporary = unfinishedTierPath(path, Date.now(), randomBytes(6).toString('hex'));
  await produceDurably(disk, path, temporary, async (file) => {
    let unpaused = 0;
    for await (const piece of pieces) {
      writeAll(disk, file, piece);
      unpaused += piece.length;
      if (unpaused < PAUSE_BYTES) continue;
      unpaused = 0;
      await new Promise(setImmediate);
    }
  });
}
