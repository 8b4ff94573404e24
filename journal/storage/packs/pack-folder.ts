/**
 * Reads the packs of a journal: knows which blob is in which of them. What it knows is only an index: each content is verified, and a
 * blob that isn't found where it was is searched for once more in what the folder holds now. To know a pack costs a look at each of its
 * records, so the latest one is read first, and no further one when it has the blob.
 */
import { sha256 } from '../../canonical.js';
import { codeOf } from '../../errors.js';
import type { BlobId } from '../../ids.js';
import type { Disk } from '../disk.js';
import { packFile, packOfFile, type PackName } from '../layout.js';
import type { PackBytes } from './header-reader.js';
import type { PackRecord } from './pack-record.js';
import { Pack } from './pack.js';

export class PackFolder {
  private readonly packs = new Map<PackName, Pack>();

  constructor(
    private readonly disk: Disk,
    readonly path: string,
  ) {}

  /** Returns the content of a blob; undefined when no pack holds it whole. */
  content(blob: BlobId): Buffer | undefined {
    const known = this.knownContent(blob);
    if (known !== undefined) return known;
    for (const name of this.names()) {
      const pack = unlessUnreadable(() => this.updatePack(name));
      const content = pack && this.contentIn(name, pack, blob);
      if (content !== undefined) return content;
    }
    return undefined;
  }

  /** Does what `content` does, without a look at what other processes have stored meanwhile. */
  knownContent(blob: BlobId): Buffer | undefined {
    return this.whereabouts(blob)?.content;
  }

  /** Returns a known pack that holds the blob whole. */
  whereabouts(blob: BlobId): { readonly name: PackName; readonly content: Buffer } | undefined {
    for (const [name, pack] of this.packs) {
      const content = this.contentIn(name, pack, blob);
      if (content !== undefined) return { name, content };
    }
    return undefined;
  }

  /** True for a blob that a known pack holds as another one with a new end. */
  hasGrown(blob: BlobId): boolean {
    return [...this.packs.values()].some((pack) => pack.hasGrown(blob));
  }

  /** Returns the names of the packs that are in the folder now, the latest first. Throws what the disk throws. */
  names(): readonly PackName[] {
    const names = listPacks(this.disk, this.path).reverse();
    const there = new Set(names);
    for (const name of this.packs.keys()) if (!there.has(name)) this.packs.delete(name);
    return names;
  }

  /** Takes up what was appended to the packs that are known. Returns what `names` does, and throws what the disk throws. */
  updateKnown(): readonly PackName[] {
    const names = this.names();
    for (const name of this.packs.keys()) unlessUnreadable(() => this.updatePack(name));
    return names;
  }

  /** Takes up what was appended to a pack; with `anew`, also what was there before. Throws what the disk throws. */
  updatePack(name: PackName, how: 'further' | 'anew' = 'further'): Pack {
    const pack = this.packs.get(name) ?? new Pack();
    this.packs.set(name, pack);
    if (how === 'anew') pack.forget();
    usePack(this.disk, packFile(this.path, name), (bytes) => pack.update(bytes));
    return pack;
  }

  private contentIn(name: PackName, pack: Pack, blob: BlobId): Buffer | undefined {
    const record = pack.find(blob);
    return record && this.contentOf(name, pack, record);
  }

  /** Returns the verified content; undefined, and an index that is made anew next time, when something else is there. */
  private contentOf(name: PackName, pack: Pack, record: PackRecord): Buffer | undefined {
    const content = unlessUnreadable(() => usePack(this.disk, packFile(this.path, name), (bytes) => pack.content(bytes, record)));
    if (content !== undefined && sha256(content) === record.blob) return content;
    pack.doubt();
    return undefined;
  }
}

/** Returns the names of all packs, oldest first. */
export function listPacks(disk: Disk, folder: string): PackName[] {
  try {
    const names = disk.listNow(folder).map(packOfFile);
    return names.filter((name) => name !== undefined).sort((left, right) => numberOf(left) - numberOf(right) || (left < right ? -1 : 1));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Opens a pack for one use. Throws what the disk throws. */
export function usePack<T>(disk: Disk, path: string, use: (bytes: PackBytes) => T): T {
  const file = disk.openToRead(path);
  try {
    return use(bytesOf(disk, file));
  } finally {
    disk.close(file);
  }
}

/** Returns undefined for a pack that was removed meanwhile, or that the disk doesn't return: then its blobs are missing. */
export function unlessUnreadable<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}

export function bytesOf(disk: Disk, file: number): PackBytes {
  return {
    size: disk.sizeOf(file),
    read(into, position) {
      for (let filled = 0; filled < into.length;) {
        const count = disk.read(file, into, filled, into.length - filled, position + filled);
        if (count === 0) return false;
        filled += count;
      }
      return true;
    },
  };
}

/** Packs are numbered in the order in which they began. */
export function numberOf(name: PackName): number {
  return Number(name.slice(0, name.indexOf('-')));
}
