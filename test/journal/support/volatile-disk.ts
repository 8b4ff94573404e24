/**
 * A real disk that knows what a power cut would leave: of a file the bytes that it had when its last sync began, of a folder the names that
 * it had when it was last synced. Neither is synced a moment earlier than requested.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { realDisk, type Disk } from '../../../journal/storage/disk.js';
import { temporaryFolder } from './folder.js';

interface File {
  content: Buffer;
  /** Undefined: nothing of it was ever synced, and it comes back empty. */
  synced: Buffer | undefined;
}

type Entry = File | 'folder';

export interface VolatileDisk {
  readonly disk: Disk;
  /** A new folder with what a power cut at this moment would leave of the root. */
  left(): string;
  /** Called behind every call that changes something. */
  onChange: () => void;
}

/** `root` has to be there, and survives. */
export function volatileDisk(root: string): VolatileDisk {
  const live = new Map<string, Entry>();
  const kept = new Map<string, Entry>();
  const open = new Map<number, File>();
  const move = (from: string, to: string): void => {
    const entry = live.get(from);
    if (entry) live.set(to, entry);
    live.delete(from);
  };
  const fileOf = (descriptor: number): File => {
    const file = open.get(descriptor);
    if (!file) throw new Error('not opened for writing');
    return file;
  };
  const isThere = (path: string): boolean => path === root || (kept.has(path) && isThere(dirname(path)));

  const volatile: VolatileDisk = {
    onChange: () => undefined,
    left() {
      const folder = temporaryFolder();
      const paths = [...kept.keys()].filter(isThere).sort(); // a folder comes before what is in it
      for (const path of paths) {
        const entry = kept.get(path);
        const copy = join(folder, relative(root, path));
        if (entry === 'folder') mkdirSync(copy);
        else writeFileSync(copy, entry?.synced ?? '');
      }
      return folder;
    },
    disk: {
      ...realDisk,
      async makeFolder(path) {
        const first = await realDisk.makeFolder(path);
        for (let made = path; first !== undefined && made.length >= first.length; made = dirname(made)) live.set(made, 'folder');
        volatile.onChange();
        return first;
      },
      async syncFolder(path) {
        await Promise.resolve();
        const inside = (name: string): boolean => dirname(name) === path;
        for (const name of [...kept.keys()].filter(inside)) if (!live.has(name)) kept.delete(name);
        for (const [name, entry] of live) if (inside(name)) kept.set(name, entry);
        volatile.onChange();
      },
      create(path) {
        const descriptor = realDisk.create(path);
        const file: File = { content: Buffer.alloc(0), synced: undefined };
        open.set(descriptor, file);
        live.set(path, file);
        volatile.onChange();
        return descriptor;
      },
      openToContinue(path) {
        const descriptor = realDisk.openToContinue(path);
        const entry = live.get(path);
        if (entry === undefined || entry === 'folder') throw new Error(`not a file of this disk: ${path}`);
        open.set(descriptor, entry);
        return descriptor;
      },
      write(descriptor, bytes, start, length, position) {
        const count = realDisk.write(descriptor, bytes, start, length, position);
        const file = fileOf(descriptor);
        const at = position ?? file.content.length;
        file.content = Buffer.concat([
          file.content.subarray(0, at),
          bytes.subarray(start, start + count),
          file.content.subarray(at + count),
        ]);
        volatile.onChange();
        return count;
      },
      cut(descriptor, size) {
        realDisk.cut(descriptor, size);
        const file = fileOf(descriptor);
        file.content = file.content.subarray(0, size);
      },
      sync(descriptor, done) {
        const file = fileOf(descriptor);
        const { content } = file;
        setImmediate(() => {
          file.synced = content;
          volatile.onChange();
          done(null);
        });
      },
      close(descriptor) {
        open.delete(descriptor);
        realDisk.close(descriptor);
      },
      async rename(from, to) {
        await realDisk.rename(from, to);
        move(from, to);
        volatile.onChange();
      },
      async link(from, to) {
        await realDisk.link(from, to);
        const entry = live.get(from);
        if (entry) live.set(to, entry);
        volatile.onChange();
      },
      async remove(path) {
        await realDisk.remove(path);
        live.delete(path);
        volatile.onChange();
      },
    },
  };
  return volatile;
}
