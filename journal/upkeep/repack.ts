/**
 * Removes blobs from packs: what a pack keeps is written into a new one. The caller decides which blobs go.
 *
 * REPACK-1 The new pack is durable under its name before the old one is moved to the trash, so at every moment each kept blob is in a pack
 *    that readers see. A kill in between leaves blobs twice, in both packs; the next removal drops them from the older one.
 * REPACK-2 Nothing is appended to the new pack until the old one is deleted or restored, because this process claims it. So restoring the
 *    old one is always right, and makes the new one superfluous.
 * REPACK-3 A run that appended to the old pack meanwhile is seen when the runs are listed again, and the old pack is restored (DELETE-2).
 * REPACK-4 A blob that can't be read any more is not kept: nobody could use it, and nobody could say what is in it.
 */
import { randomBytes } from 'node:crypto';
import { sha256 } from '../canonical.js';
import type { BlobId } from '../ids.js';
import { syncFile, writeAll, type Disk } from '../storage/disk.js';
import { packFile, type PackName } from '../storage/layout.js';
import { encodeRecord } from '../storage/packs/encode-record.js';
import { claimPack } from '../storage/packs/pack-claim.js';
import { listPacks, numberOf, usePack } from '../storage/packs/pack-folder.js';
import type { PackBytes } from '../storage/packs/header-reader.js';
import type { PackRecord } from '../storage/packs/pack-record.js';
import { PACK_HEAD, Pack } from '../storage/packs/pack.js';
import { RecentContents } from '../storage/packs/recent-contents.js';

export interface PackedBlob {
  readonly blob: BlobId;
  /** The bytes that its record takes. */
  readonly bytes: number;
}

interface OpenPack {
  readonly name: PackName;
  readonly pack: Pack;
}

interface Replaced {
  readonly old: PackName;
  /** Undefined where nothing is kept. */
  readonly made: { readonly name: PackName; readonly release: () => Promise<void> } | undefined;
}

/** Lists the blobs of all packs. Throws what the disk throws. */
export function packedBlobs(disk: Disk, folder: string): PackedBlob[] {
  return openPacks(disk, folder).flatMap(({ pack }) => pack.records.map(({ blob, at, end }) => ({ blob, bytes: end - at })));
}

/** Replaces every pack that holds one of the blobs, and moves the old ones to the trash. */
export async function replacePacks(disk: Disk, folder: string, trash: string, going: ReadonlySet<BlobId>): Promise<Replaced[]> {
  const replaced: Replaced[] = [];
  const packs = openPacks(disk, folder);
  for (const [place, open] of packs.entries()) {
    const later = packs.slice(place + 1);
    const latest = open.pack.records.filter((record) => open.pack.find(record.blob) === record);
    const kept = [];
    for (const record of latest) if (!going.has(record.blob) && !(await isIn(disk, folder, later, record.blob))) kept.push(record);
    if (kept.length === open.pack.records.length) continue;
    const made = kept.length === 0 ? undefined : await writePack(disk, folder, open, kept);
    await disk.rename(packFile(folder, open.name), packFile(folder, open.name) + trash);
    replaced.push({ old: open.name, made });
  }
  if (replaced.length > 0) await disk.syncFolder(folder);
  return replaced;
}

/** Restores the old packs, and removes the new ones (REPACK-2). */
export async function restorePacks(disk: Disk, folder: string, trash: string, replaced: readonly Replaced[]): Promise<void> {
  for (const { old } of replaced) await disk.rename(packFile(folder, old) + trash, packFile(folder, old));
  if (replaced.length > 0) await disk.syncFolder(folder);
  for (const { made } of replaced) {
    if (made === undefined) continue;
    await disk.remove(packFile(folder, made.name));
    await made.release();
  }
}

/** Deletes the old packs. */
export async function deletePacks(disk: Disk, folder: string, trash: string, replaced: readonly Replaced[]): Promise<void> {
  for (const { old, made } of replaced) {
    await disk.remove(packFile(folder, old) + trash);
    await made?.release();
  }
  if (replaced.length > 0) await disk.syncFolder(folder);
}

function openPacks(disk: Disk, folder: string): OpenPack[] {
  return listPacks(disk, folder).map((name) => {
    const pack = new Pack();
    usePack(disk, packFile(folder, name), (bytes) => pack.update(bytes));
    return { name, pack };
  });
}

/** Tells whether one of the packs holds the blob whole and durable. */
async function isIn(disk: Disk, folder: string, packs: readonly OpenPack[], blob: BlobId): Promise<boolean> {
  for (const { name, pack } of packs) {
    const record = pack.find(blob);
    if (record === undefined) continue;
    const isWhole = usePack(disk, packFile(folder, name), (bytes) => contentOf(bytes, pack, record) !== undefined);
    if (!isWhole) continue;
    const file = disk.openToContinue(packFile(folder, name));
    try {
      await syncFile(disk, file);
    } finally {
      disk.close(file);
    }
    return true;
  }
  return false;
}

/** REPACK-1 */
async function writePack(disk: Disk, folder: string, old: OpenPack, kept: readonly PackRecord[]): Promise<Replaced['made']> {
  const latest = listPacks(disk, folder).at(-1);
  const name: PackName = `${numberOf(latest ?? old.name) + 1}-${randomBytes(4).toString('hex')}`;
  const release = await claimPack(disk, folder, name); // REPACK-2
  if (release === undefined) throw new Error(`a pack with the name of a new one: ${name}`);
  const temporary = `${packFile(folder, name)}.tmp`;
  try {
    const file = disk.create(temporary);
    try {
      usePack(disk, packFile(folder, old.name), (source) => copyRecords(disk, { file, path: temporary }, name, { source, old, kept }));
      await syncFile(disk, file);
    } finally {
      disk.close(file);
    }
    await disk.rename(temporary, packFile(folder, name));
    await disk.syncFolder(folder);
    return { name, release };
  } catch (error) {
    await disk.remove(temporary).catch(() => undefined); // the first error is the one to report
    await release().catch(() => undefined);
    throw error;
  }
}

function copyRecords(
  disk: Disk,
  { file, path }: { readonly file: number; readonly path: string },
  name: PackName,
  { source, old, kept }: { readonly source: PackBytes; readonly old: OpenPack; readonly kept: readonly PackRecord[] },
): void {
  const made = new Pack();
  const recent = new RecentContents();
  writeAll(disk, file, Buffer.from(PACK_HEAD));
  usePack(disk, path, (bytes) => made.update(bytes));
  for (const record of kept) {
    const content = contentOf(source, old.pack, record);
    if (content === undefined) continue; // REPACK-4
    const encoded = encodeRecord(content, record.blob, made, (earlier) => recent.get(name, earlier.at) ?? written(earlier));
    writeAll(disk, file, encoded.bytes);
    recent.add(name, made.add(encoded).at, content);
  }

  function written(record: PackRecord): Buffer | undefined {
    return usePack(disk, path, (bytes) => made.content(bytes, record));
  }
}

function contentOf(bytes: PackBytes, pack: Pack, record: PackRecord): Buffer | undefined {
  const content = pack.content(bytes, record);
  return content !== undefined && sha256(content) === record.blob ? content : undefined;
}
