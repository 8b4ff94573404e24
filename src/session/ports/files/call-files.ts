/**
 * Keeps the files that calls wrote and their arguments name as blobs of the journal, and restores them when a result is reused.
 * calls.md 22.
 *
 * RESTORE-1  A file is replaced as a whole, one call after the other: a kill leaves the old file or the restored one.
 * RESTORE-2  Several calls may write the same file. It ends with the content that the latest of the reused calls had left, in whatever
 *    order they are reused.
 * RESTORE-3  Other content than that is someone's work: it is left, and reported at the end unless a later call accounts for it.
 */
import path from 'node:path';
import { sha256 } from '../../../../journal/canonical.js';
import type { ReusedOutput, WrittenFile } from '../../../../journal/facts/call-event.js';
import type { BlobId, EventRef, OpPath } from '../../../../journal/ids.js';
import type { JournalStore } from '../../../../journal/store.js';
import { CLOSED_FOLDERS } from '../../../calls/files/named-files.js';
import type { CallSettings } from '../../../calls/options.js';
import type { CallFiles, FilesBefore, FoundFiles, KeepRules, ReusedCall } from '../../../runtime/calls/call-files.js';
import { putBack, readUpTo, stateOf, staysIn, type FileState } from '../../../world/files/call-files.js';
import { reason } from '../../../world/files/files.js';

export interface CallFileSources {
  readonly store: Pick<JournalStore, 'putBlob' | 'getBlob'>;
  /** The project's folder. */
  readonly root: string;
  readonly settings: CallSettings['files'];
  /** If false, nothing can be kept. */
  readonly isRecorded: boolean;
  readonly onTrouble: (error: Error) => void;
  readonly warn: (message: string) => void;
}

/** Files of one function that reused calls had written and that have other content now. */
export interface ChangedFiles {
  count: number;
  readonly first: string;
  /** The call that had written the first. */
  readonly op: OpPath;
  /** Other calls had written some of them. */
  areOfSeveral: boolean;
}

/** A call whose file has other content, and the event that holds its result. */
type Left = Pick<ReusedCall, 'from' | 'op'>;

export class RunCallFiles implements CallFiles {
  readonly keepsByDefault: boolean;
  /** Holds by path the version that this run restored. */
  private readonly restored = new Map<string, { readonly blob: BlobId; readonly from: EventRef }>();
  /** The latest call that accounts for the content of a file. */
  private readonly accounted = new Map<string, EventRef>();
  /** Files with other content, by path and function. */
  private readonly left = new Map<string, Map<string, Left>>();
  private readonly lastOf = new Map<string, Promise<unknown>>();

  constructor(private readonly sources: CallFileSources) {
    this.keepsByDefault = sources.settings.keep;
  }

  async look(paths: readonly string[]): Promise<FilesBefore> {
    const before = new Map<string, { stamp: string; digest?: string }>();
    for (const name of paths) {
      const state = await stateOf(this.absolute(name));
      if (typeof state === 'string') before.set(name, { stamp: state });
      else if (!state.isFresh) before.set(name, { stamp: state.stamp });
      else before.set(name, { stamp: state.stamp, digest: (await this.digestOf(name, this.sources.settings.eachBytes)) ?? '' });
    }
    return before;
  }

  async keep(before: FilesBefore, rules: KeepRules): Promise<readonly WrittenFile[]> {
    const files: WrittenFile[] = [];
    if (!this.sources.isRecorded) return files;
    const room = { count: this.sources.settings.count, bytes: this.sources.settings.totalBytes };
    for (const [name, was] of before) {
      if (rules.except.has(name) || rules.hidesText?.(name)) continue;
      const state = await stateOf(this.absolute(name));
      if (typeof state === 'string' || (state.stamp === was.stamp && was.digest === undefined)) continue;
      if (state.stamp === was.stamp && ((await this.digestOf(name, this.sources.settings.eachBytes)) ?? '') === was.digest) continue;
      if (!(await staysIn(this.sources.root, this.absolute(name), CLOSED_FOLDERS))) continue;
      this.left.delete(name);
      const file = await this.keptFile(name, state, rules, room);
      if (file.blob !== undefined) {
        room.count--;
        room.bytes -= file.bytes;
      }
      files.push(file);
    }
    return files;
  }

  private async keptFile(
    name: string,
    { bytes, mode }: FileState,
    { isSecret, hidesText }: KeepRules,
    room: { readonly count: number; readonly bytes: number },
  ): Promise<WrittenFile> {
    const { settings, store, onTrouble } = this.sources;
    const facts = { path: name, bytes, mode };
    if (isSecret) return { ...facts, reason: 'secret' };
    if (bytes > settings.eachBytes) return { ...facts, reason: 'too-large' };
    if (room.count === 0 || bytes > room.bytes) return { ...facts, reason: 'too-many' };
    // The result is paid for: a file that can't be read or stored now costs the file, not the result.
    const content = await readUpTo(this.absolute(name), Math.min(settings.eachBytes, room.bytes));
    if (content === undefined) return { ...facts, reason: 'unreadable' };
    if (hidesText?.(content.toString())) return { ...facts, reason: 'secret' };
    try {
      return { path: name, blob: (await store.putBlob(content)).blob, bytes: content.length, mode };
    } catch (error) {
      onTrouble(error as Error);
      return { ...facts, reason: 'unreadable' };
    }
  }

  async find(files: readonly WrittenFile[]): Promise<FoundFiles> {
    const gone: string[] = [];
    const contents = new Map<string, Uint8Array>();
    for (const { path: name, blob, inner } of files) {
      if ((await stateOf(this.absolute(name))) !== 'absent') continue;
      const content = blob === undefined || inner ? undefined : await this.sources.store.getBlob(blob);
      if (content === undefined) gone.push(name);
      else contents.set(name, content);
    }
    return { gone, contents };
  }

  async restore(files: readonly WrittenFile[], { contents }: FoundFiles, call: ReusedCall): Promise<readonly ReusedOutput[]> {
    const reused: ReusedOutput[] = [];
    for (const file of files)
      reused.push({
        path: file.path,
        did: await this.inOrder(file.path, () => this.restoreOne(file, contents.get(file.path), call)),
      });
    return reused;
  }

  private async restoreOne(file: WrittenFile, content: Uint8Array | undefined, call: ReusedCall): Promise<ReusedOutput['did']> {
    const { path: name, blob, bytes, inner } = file;
    const state = await stateOf(this.absolute(name));
    if (state === 'absent' && inner) return 'absent'; // removed since it was found
    if (state === 'absent') return this.putBack(file, content, call);
    if (blob === undefined) return 'kept';
    const onDisk = typeof state === 'string' ? undefined : await this.digestOf(name, Math.max(bytes, this.sources.settings.eachBytes));
    if (onDisk === blob) {
      this.account(name, call.from);
      return 'same';
    }
    const before = this.restored.get(name);
    if (before === undefined || onDisk !== before.blob) {
      this.leave(name, call);
      return 'kept';
    }
    return isLater(call.from, before.from) ? this.putBack(file, undefined, call) : 'kept'; // RESTORE-2
  }

  private async putBack(
    { path: name, blob, mode }: WrittenFile,
    known: Uint8Array | undefined,
    call: ReusedCall,
  ): Promise<ReusedOutput['did']> {
    const { root, store, warn } = this.sources;
    const content = known ?? (blob && (await store.getBlob(blob)));
    const cannot = (why: string): 'absent' => {
      warn(`${name}, which @${call.fn} wrote, can't be restored: ${why}`);
      return 'absent';
    };
    if (blob === undefined || content === undefined) return cannot('its content is not in the journal');
    if (!(await staysIn(root, this.absolute(name), CLOSED_FOLDERS)))
      return cannot('a link above it leads out of the project, or into a folder of git or mlld');
    try {
      await putBack(this.absolute(name), content, mode);
    } catch (error) {
      return cannot(reason(error));
    }
    this.restored.set(name, { blob, from: call.from });
    this.account(name, call.from);
    return 'restored';
  }

  /** Returns by function which files of reused calls were left with other content. RESTORE-3. */
  changed(): ReadonlyMap<string, ChangedFiles> {
    const changed = new Map<string, ChangedFiles>();
    for (const [name, functions] of this.left) {
      for (const [fn, { from, op }] of functions) {
        const by = this.accounted.get(name);
        if (by && isLater(by, from)) continue;
        const known = changed.get(fn);
        if (known) {
          known.count++;
          known.areOfSeveral ||= known.op !== op;
        } else changed.set(fn, { count: 1, first: name, op, areOfSeveral: false });
      }
    }
    return changed;
  }

  private account(name: string, from: EventRef): void {
    const known = this.accounted.get(name);
    if (!known || isLater(from, known)) this.accounted.set(name, from);
  }

  private leave(name: string, { fn, op, from }: ReusedCall): void {
    const functions = this.left.get(name) ?? new Map<string, Left>();
    const known = functions.get(fn);
    if (!known || isLater(from, known.from)) functions.set(fn, { from, op });
    this.left.set(name, functions);
  }

  /** RESTORE-1 */
  private inOrder<T>(name: string, task: () => Promise<T>): Promise<T> {
    const mine = (this.lastOf.get(name) ?? Promise.resolve()).then(task);
    const settled = mine.catch(() => undefined);
    this.lastOf.set(name, settled);
    void settled.then(() => this.lastOf.get(name) === settled && this.lastOf.delete(name));
    return mine;
  }

  /** Undefined for a file that is larger. */
  private async digestOf(name: string, maxBytes: number): Promise<BlobId | undefined> {
    const content = await readUpTo(this.absolute(name), maxBytes);
    return content && sha256(content);
  }

  private absolute(name: string): string {
    return path.join(this.sources.root, name);
  }
}

/** Run ids sort by time. */
function isLater(one: EventRef, other: EventRef): boolean {
  return one.run === other.run ? one.seq > other.seq : one.run > other.run;
}
