/** Keeps runs in files below a project's `.mlld/journal`: creates, lists and reads them. Opening a store does no work. */
import { endOfRun } from '../lines/end-of-run.js';
import { randomBytes } from 'node:crypto';
import { basename, join } from 'node:path';
import { createBlobWriter, type BlobWriter, type StoredBlob } from './blob-writer.js';
import { getBlob, getBlobNow, putBlob } from './blobs.js';
import { PACKED_BYTES_MIN } from '../payloads.js';
import { PackFolder } from './packs/pack-folder.js';
import { PACKED_BYTES_MAX } from './packs/pack-record.js';
import { PackWriter } from './packs/pack-writer.js';
import { RecentTexts } from './packs/recent-texts.js';
import { makeDurableFolder, realDisk, writeDurably, type Disk } from './disk.js';
import { codeOf, JournalError, journalError } from '../errors.js';
import type { JournalEvent } from '../event.js';
import { isImplausible, type BlobId, type RunId, type RunRef, type Workflow } from '../ids.js';
import {
  folderName,
  journalFolder,
  lockPath,
  packsFolder,
  runOfFile,
  runPath,
  runsFolder,
  runsFolderOf,
  workflowFolder,
  workflowOfFolder,
} from './layout.js';
import { openIndexFiles } from './index-files.js';
import { isAlive, markAlive, unmark } from './runs/run-liveness.js';
import { FileHandles } from './file-handles.js';
import { holdsCall, readLineAt, scanFile, type Visit } from '../reader.js';
import { openKeyring, projectKeySource, type SealingKey } from '../secrets/keyring.js';
import { withPayloads } from '../secrets/payload-store.js';
import { existingRun, inUse, reopenRun } from './runs/reopen-run.js';
import { RunFiles } from './runs/run-files.js';
import { firstFileOf } from '../segments.js';
import type { CreateOptions, IndexFiles, Journal, JournalStore, Position, RunFile, RunStore, ScanOptions, ScanReport } from '../store.js';
import { describeBeginning, readFirst, readTail, type Tail } from './tail.js';
import { acquireWorkflowLock } from './workflow-lock.js';
import { deleteRunFiles } from '../upkeep/delete-runs.js';
import { RunWriter } from '../writer.js';

/** True for errors that may pass: a full disk may, a folder that belongs to another user does not. */
function mayPass({ code }: JournalError): boolean {
  return code === 'JOURNAL_DISK_FULL' || code === 'JOURNAL_IO';
}

/** Saves making the path of a run again: successive results are mostly read from the same run. */
function rememberLast<Key extends object, T>(make: (key: Key) => T): (key: Key) => T {
  let last: { readonly key: Key; readonly made: T } | undefined;
  return (key) => (last?.key === key ? last : (last = { key, made: make(key) })).made;
}

export interface FileStoreOptions {
  readonly disk?: Disk;
  /** Seals results that are secret, and opens them again. */
  readonly sealingKey?: SealingKey;
  /** Called whenever a run is passed over whose id can't be right. */
  readonly onSkipped?: ((run: RunRef) => void) | undefined;
}

/** `root` is the project's folder. */
export function openFileStore(root: string, options: FileStoreOptions = {}): JournalStore {
  return openJournalFolder(journalFolder(root), options);
}

/** Opens a journal in any folder. */
export function openJournalFolder(journal: string, { disk = realDisk, sealingKey, onSkipped }: FileStoreOptions = {}): JournalStore {
  const keyring = openKeyring(projectKeySource(disk, journal, sealingKey));
  return withPayloads(new FileStore(journal, disk, onSkipped), keyring);
}

class FileStore implements RunStore {
  readonly immediate: NonNullable<RunStore['immediate']>;
  readonly indexFiles: IndexFiles;
  private readonly packs: PackFolder;
  private readonly packer: PackWriter;
  private readonly recentTexts = new RecentTexts();

  constructor(
    private readonly journal: string,
    private readonly disk: Disk,
    private readonly onSkipped: FileStoreOptions['onSkipped'],
  ) {
    this.packs = new PackFolder(disk, packsFolder(journal));
    this.packer = new PackWriter(disk, this.packs);
    const { packs } = this;
    const files = new FileHandles(disk);
    const pathOf = rememberLast((ref: RunRef) => runPath(journal, ref));
    this.immediate = {
      holds: (ref, position, key) => holdsCall(files, pathOf(ref), position, key),
      readAt: (ref, position) => readLineAt(files, pathOf(ref), position),
      getBlob: (id) => packs.knownContent(id) ?? getBlobNow(disk, journal, id) ?? packs.content(id),
    };
    this.indexFiles = openIndexFiles(disk, journal);
  }

  async create(ref: RunRef, options?: CreateOptions): Promise<Journal> {
    const { disk, journal } = this;
    const folder = runsFolder(journal, ref.workflow);
    const lock = lockPath(journal, ref);
    let isLocked = false;
    const files = new RunFiles(disk, runPath(journal, ref), async () => {
      await makeDurableFolder(disk, folder).catch((error: unknown) => {
        throw journalError(error, `create ${folder}`);
      });
      if (isLocked) await disk.remove(lock); // it may be half written
      markAlive(disk, lock, () => (isLocked = true)); // RUN-FILE-1
    });
    const release = async (): Promise<void> => (isLocked ? unmark(disk, lock) : undefined);
    try {
      await files.begin();
    } catch (error) {
      const failure = journalError(error, `start run ${ref.run} of ${ref.workflow}`);
      if (options && (options.waitMs ?? 1) > 0 && mayPass(failure)) return new RunWriter(ref, files, release, options, { failed: failure });
      // A file of another process is kept, and the first error is the one to report.
      if (files.hasBegun) await disk.remove(runPath(journal, ref)).catch(() => undefined);
      files.close();
      await release();
      if (codeOf(error) !== 'EEXIST') throw failure;
      throw new JournalError('JOURNAL_RUN_EXISTS', `there is a run ${ref.run} of ${ref.workflow} already`, { cause: error });
    }
    return new RunWriter(ref, files, release, options);
  }

  reopen(ref: RunRef, options?: CreateOptions): Promise<Journal> {
    return reopenRun(this, this.disk, this.journal, ref, options);
  }

  async deleteRun(ref: RunRef): Promise<void> {
    await existingRun(this, ref);
    if (await isAlive(this.disk, lockPath(this.journal, ref))) throw inUse(ref);
    await deleteRunFiles(this.disk, this.journal, ref);
  }

  async acquireWorkflowLock(workflow: Workflow): Promise<() => Promise<void>> {
    const folder = workflowFolder(this.journal, workflow);
    try {
      return await acquireWorkflowLock(this.disk, folder);
    } catch (error) {
      throw journalError(error, `begin a run of ${workflow}`);
    }
  }

  async workflows(): Promise<readonly Workflow[]> {
    const workflows: Workflow[] = [];
    for (const name of await this.list(this.journal)) {
      const known = workflowOfFolder(name);
      const workflow = known === 'shortened' ? await this.workflowOfFirstRun(name) : known;
      if (workflow !== undefined) workflows.push(workflow);
    }
    return workflows.sort();
  }

  async runs(workflow: Workflow): Promise<readonly RunFile[]> {
    const names = await this.list(runsFolder(this.journal, workflow));
    const runs = names.map(runOfFile).filter((run) => run !== undefined && !this.isSkipped({ workflow, run })) as RunId[];
    const inSegments = new Set(names.map(firstFileOf).filter((name) => name !== undefined));
    return Promise.all(runs.sort().map((run) => this.runFile({ workflow, run }, inSegments)));
  }

  async find(run: RunId): Promise<RunRef | undefined> {
    for (const workflow of await this.workflows()) {
      const names = await this.list(runsFolder(this.journal, workflow));
      if (names.some((name) => runOfFile(name) === run) && !this.isSkipped({ workflow, run })) return { workflow, run };
    }
    return undefined;
  }

  scan(ref: RunRef, visit: Visit, options?: ScanOptions): Promise<ScanReport> {
    return scanFile(this.disk, runPath(this.journal, ref), ref, visit, options);
  }

  async readAt(ref: RunRef, position: Position): Promise<JournalEvent | undefined> {
    return this.immediate.readAt(ref, position);
  }

  putBlob(content: string | Uint8Array): Promise<StoredBlob> {
    return putBlob(this.disk, this.journal, content);
  }

  continues(text: string): boolean {
    return this.recentTexts.continues(text);
  }

  hasGrown(id: BlobId): boolean {
    return this.packs.hasGrown(id);
  }

  async packBlob(content: string): Promise<StoredBlob> {
    const bytes = Buffer.byteLength(content);
    if (bytes < PACKED_BYTES_MIN || bytes > PACKED_BYTES_MAX) return this.putBlob(content);
    return { blob: await this.packer.store(Buffer.from(content)), bytes };
  }

  newBlob(): BlobWriter {
    return createBlobWriter(this.disk, this.journal);
  }

  async getBlob(id: BlobId): Promise<Uint8Array | undefined> {
    return this.packs.knownContent(id) ?? (await getBlob(this.disk, this.journal, id)) ?? this.packs.content(id);
  }

  async readDerived(workflow: Workflow, name: string): Promise<Uint8Array | undefined> {
    try {
      return await this.disk.readWhole(this.derivedPath(workflow, name));
    } catch (error) {
      if (codeOf(error) === undefined) throw error;
      return undefined; // it may vanish at any time
    }
  }

  async writeDerived(workflow: Workflow, name: string, content: string | Uint8Array): Promise<void> {
    const path = this.derivedPath(workflow, name);
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    try {
      await makeDurableFolder(this.disk, workflowFolder(this.journal, workflow));
      await writeDurably(this.disk, path, `${path}.${randomBytes(6).toString('hex')}.tmp`, bytes);
    } catch (error) {
      throw journalError(error, `write ${path}`);
    }
  }

  async replaceDerived(workflow: Workflow, name: string, content: string | Uint8Array, beginning: string | undefined): Promise<boolean> {
    const there = this.beginningOf(this.derivedPath(workflow, name), beginning === undefined ? 0 : Buffer.byteLength(beginning));
    if (there !== undefined && (beginning === undefined || there.toString() !== beginning)) return false;
    await this.writeDerived(workflow, name, content);
    return true;
  }

  /** Undefined when there is no such file. */
  private beginningOf(path: string, bytes: number): Buffer | undefined {
    let file: number;
    try {
      file = this.disk.openToRead(path);
    } catch (error) {
      if (codeOf(error) === undefined) throw error;
      return undefined;
    }
    try {
      const read = Buffer.alloc(bytes);
      return read.subarray(0, this.disk.read(file, read, 0, bytes, 0));
    } finally {
      this.disk.close(file);
    }
  }

  private isSkipped(ref: RunRef): boolean {
    if (!isImplausible(ref.run, Date.now())) return false;
    this.onSkipped?.(ref);
    return true;
  }

  private derivedPath(workflow: Workflow, name: string): string {
    if (!/^[a-z][a-z-]*$/.test(name) || name === 'runs') throw new Error(`not a name for derived data: ${name}`);
    return join(workflowFolder(this.journal, workflow), name);
  }

  /** Most runs have ended, as their last event says: a lock is looked for only where there is no such event. */
  private async runFile(ref: RunRef, inSegments: ReadonlySet<string>): Promise<RunFile> {
    const file = runPath(this.journal, ref);
    const tail = (): Tail => readTail(this.disk, file, !inSegments.has(basename(file)));
    const early = tail();
    const finished = endOfRun(early.last);
    if (finished !== undefined) return { ref, liveness: 'finished', bytes: early.bytes, finished };
    // The tail is read again behind the lock: a run that ends in between has its last event by then.
    const held = await isAlive(this.disk, lockPath(this.journal, ref));
    const { bytes, last } = tail();
    const late = endOfRun(last);
    if (late !== undefined) return { ref, liveness: 'finished', bytes, finished: late };
    return { ref, liveness: held ? 'running' : 'crashed', bytes, ...describeBeginning(this.disk, file) };
  }

  /** Reads from the first event of a run the path that is too long for the folder's name. */
  private async workflowOfFirstRun(name: string): Promise<Workflow | undefined> {
    const folder = runsFolderOf(this.journal, name);
    for (const file of [...(await this.list(folder))].sort()) {
      const first = runOfFile(file) && readFirst(this.disk, join(folder, file));
      if (first?.type === 'run.started' && folderName(first.workflow) === name) return first.workflow;
    }
    return undefined;
  }

  /** Returns nothing for a folder that doesn't exist. */
  private async list(folder: string): Promise<readonly string[]> {
    try {
      return await this.disk.list(folder);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw journalError(error, `read ${folder}`);
    }
  }
}
