/**
 * Appends blobs to a pack. Blobs that are stored at the same time share a claim and a sync.
 *
 * PACKER-1 `store` resolves when the blob is durable: its record, all before it in the pack, and the name of the pack. A kill leaves, from
 *    the claim on, the claim of a dead process; from the first write on, a torn record at the end, or whole records that nothing names yet
 *    and that the same content finds when it is stored again; a power cut may also take those, and nothing before them.
 * PACKER-2 One process at a time appends to a pack (`pack-claim.ts`), and only behind records that it has read since it claimed the
 *    pack, or has written itself. A pack that ends in anything else is never continued: there is always another one to begin.
 * PACKER-3 After a failed write or sync the records of the batch are made unreadable where the disk allows it, and this process leaves the
 *    pack alone: the system may have lost what it says it holds.
 * PACKER-4 Every record is read back and compared before it is acknowledged: one that copies what the disk holds damaged is written once
 *    more without copies.
 * PACKER-5 A blob that a known pack holds already is read and verified, and its pack synced: the process that wrote it may have died
 *    before. The look happens after the run of the blob began, so `journal gc` restores what it was about to remove (DELETE-2).
 */
import { randomBytes } from 'node:crypto';
import { sha256 } from '../../canonical.js';
import { journalError } from '../../errors.js';
import type { BlobId } from '../../ids.js';
import { makeDurableFolder, syncFile, writeAll, type Disk } from '../disk.js';
import { packFile, type PackName } from '../layout.js';
import { claimPack } from './pack-claim.js';
import { bytesOf, listPacks, numberOf, unlessUnreadable, usePack, type PackFolder } from './pack-folder.js';
import { encodeRecord, type EncodedRecord } from './encode-record.js';
import type { PackRecord } from './pack-record.js';
import { PACK_HEAD, type Pack } from './pack.js';
import { RecentContents } from './recent-contents.js';

/** A larger pack is not continued: `journal gc` writes anew what it keeps of one. */
const PACK_BYTES_MAX = 256 * 1024 * 1024;
const BROKEN_RECORD = Buffer.from('!');

interface Waiting {
  readonly blob: BlobId;
  readonly content: Buffer;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

interface Claimed {
  readonly name: PackName;
  readonly pack: Pack;
  readonly release: () => Promise<void>;
}

export class PackWriter {
  private waiting: Waiting[] = [];
  private isWriting = false;
  /** The pack that this process used last, with its end then. */
  private last: { readonly name: PackName; readonly end: number } | undefined;
  /** PACKER-3 */
  private readonly spoiled = new Set<PackName>();
  /** The packs whose names are durable. */
  private readonly named = new Set<PackName>();
  private readonly recent = new RecentContents();

  constructor(
    private readonly disk: Disk,
    private readonly packs: PackFolder,
  ) {}

  /** Rejects with `JournalError`; then nothing is stored. */
  async store(content: Buffer): Promise<BlobId> {
    const blob = sha256(content);
    await new Promise<void>((resolve, reject) => {
      this.waiting.push({ blob, content, done: resolve, failed: reject });
      if (!this.isWriting) void this.drain();
    }).catch((error: unknown) => {
      throw journalError(error, `store a result of ${content.length} bytes`);
    });
    return blob;
  }

  private async drain(): Promise<void> {
    this.isWriting = true;
    while (this.waiting.length > 0) {
      const batch = this.waiting;
      this.waiting = [];
      try {
        await this.writeBatch(batch);
        for (const { done } of batch) done();
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    this.isWriting = false;
  }

  private async writeBatch(batch: readonly Waiting[]): Promise<void> {
    const isMissing = (name: PackName | undefined): boolean => name === undefined || this.spoiled.has(name);
    await makeDurableFolder(this.disk, this.packs.path);
    const claimed = await this.claim(this.packs.updateKnown());
    try {
      const found = new Map(batch.map(({ blob }) => [blob, this.packs.whereabouts(blob)?.name]));
      const missing = batch.filter(({ blob }) => isMissing(found.get(blob)));
      await this.append(claimed, new Map(missing.map(({ blob, content }) => [blob, content])));
      const used = new Set([claimed.name, ...[...found.values()].filter((name) => !isMissing(name))] as PackName[]);
      for (const name of used) if (name !== claimed.name) await this.sync(name); // PACKER-5
      if ([...used].some((name) => !this.named.has(name))) await this.disk.syncFolder(this.packs.path);
      for (const name of used) this.named.add(name);
      this.last = { name: claimed.name, end: claimed.pack.end };
    } finally {
      await claimed.release();
    }
  }

  /** Appends the contents and syncs the pack, also where nothing is appended. */
  private async append({ name, pack }: Claimed, contents: ReadonlyMap<BlobId, Buffer>): Promise<void> {
    const written: number[] = [];
    const file = this.disk.openToContinue(packFile(this.packs.path, name));
    const write = (content: Buffer, encoded: EncodedRecord): PackRecord => {
      written.push(pack.end);
      writeAll(this.disk, file, encoded.bytes, pack.end);
      const record = pack.add(encoded);
      this.recent.add(name, record.at, content);
      return record;
    };
    try {
      for (const [blob, content] of contents) {
        const record = write(
          content,
          encodeRecord(content, blob, pack, (source) => this.stored(name, pack, source)),
        );
        if (pack.content(bytesOf(this.disk, file), record)?.equals(content)) continue;
        this.recent.forget();
        write(content, encodeRecord(content, blob, pack)); // PACKER-4
      }
      await syncFile(this.disk, file);
    } catch (error) {
      this.spoil(name, file, written);
      throw error;
    } finally {
      this.disk.close(file);
    }
  }

  /** PACKER-3 */
  private spoil(name: PackName, file: number, written: readonly number[]): void {
    this.spoiled.add(name);
    try {
      for (const at of written) writeAll(this.disk, file, BROKEN_RECORD, at);
    } catch {
      // The first error is the one to report.
    }
  }

  /** Undefined for a blob that can't be read: nothing is copied from it, which costs space alone. */
  private stored(name: PackName, pack: Pack, record: PackRecord): Buffer | undefined {
    const known = this.recent.get(name, record.at);
    if (known !== undefined) return known;
    const content = unlessUnreadable(() => usePack(this.disk, packFile(this.packs.path, name), (bytes) => pack.content(bytes, record)));
    if (content !== undefined) this.recent.add(name, record.at, content);
    return content;
  }

  private async sync(name: PackName): Promise<void> {
    const file = this.disk.openToContinue(packFile(this.packs.path, name));
    try {
      await syncFile(this.disk, file);
    } finally {
      this.disk.close(file);
    }
  }

  /** Claims the pack that this process used last, else the latest that is free, else a new one. */
  private async claim(there: readonly PackName[]): Promise<Claimed> {
    const names = there.filter((name) => !this.spoiled.has(name));
    const mine = names.filter((name) => name === this.last?.name);
    for (const name of [...mine, ...names.filter((other) => other !== this.last?.name)]) {
      const release = await claimPack(this.disk, this.packs.path, name);
      if (release === undefined) continue;
      const pack = this.trusted(name);
      if (pack !== undefined) return { name, pack, release };
      await release();
    }
    return this.begin();
  }

  /** PACKER-2. Undefined for a pack that can't be continued. */
  private trusted(name: PackName): Pack | undefined {
    const pack = this.packs.updatePack(name);
    const isOwn = this.last?.name === name && this.last.end === pack.end && !pack.isTorn;
    const read = isOwn ? pack : this.packs.updatePack(name, 'anew');
    if (!isOwn) this.recent.forget();
    return read.isTorn || read.end < PACK_HEAD.length || read.end > PACK_BYTES_MAX ? undefined : read;
  }

  private async begin(): Promise<Claimed> {
    const latest = listPacks(this.disk, this.packs.path).at(-1);
    const name: PackName = `${latest === undefined ? 1 : numberOf(latest) + 1}-${randomBytes(4).toString('hex')}`;
    const release = await claimPack(this.disk, this.packs.path, name);
    if (release === undefined) throw new Error(`a pack with the name of a new one: ${name}`);
    try {
      const file = this.disk.create(packFile(this.packs.path, name));
      try {
        writeAll(this.disk, file, Buffer.from(PACK_HEAD));
      } finally {
        this.disk.close(file);
      }
      return { name, pack: this.packs.updatePack(name), release };
    } catch (error) {
      await release().catch(() => undefined); // the first error is the one to report
      throw error;
    }
  }
}
