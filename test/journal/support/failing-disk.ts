/** A real disk whose n-th call fails. It doesn't sync: there is no power cut here, and a test makes hundreds of runs. */
import { realDisk, type Disk } from '../../../journal/storage/disk.js';

/**
 * `ENOSPC`, `EIO`, `EACCES`: the call fails with it, once. `full`: from this call on every write and sync fails with ENOSPC, and the first
 * one writes half. `short`: the call, if it writes, writes one byte only and says so. `dead`: from this call on nothing happens any more,
 * as if the process were gone; a write gets half done.
 */
export type Trouble = 'ENOSPC' | 'EIO' | 'EACCES' | 'full' | 'short' | 'dead';

export interface FailingDisk {
  readonly disk: Disk;
  /** Calls so far. */
  calls(): number;
  /** Did the n-th call come? */
  struck(): boolean;
}

class Dead extends Error {
  readonly code = 'EDEAD';
}

export function failingDisk(n: number, trouble: Trouble): FailingDisk {
  let calls = 0;
  /** Returns how this call fails. */
  const strike = (isWrite: boolean): 'fail' | 'half' | 'one byte' | undefined => {
    calls++;
    if (calls < n) return undefined;
    if (trouble === 'dead') return calls === n && isWrite ? 'half' : 'fail';
    if (trouble === 'full') return isWrite ? (calls === n ? 'half' : 'fail') : undefined;
    if (calls > n) return undefined;
    return trouble === 'short' ? (isWrite ? 'one byte' : undefined) : 'fail';
  };
  const error = (): Error => {
    if (trouble === 'dead') return new Dead('dead');
    const code = trouble === 'full' || trouble === 'short' ? 'ENOSPC' : trouble;
    return Object.assign(new Error(`${code}: made up`), { code });
  };
  const sync =
    <A extends unknown[], R>(call: (...args: A) => R) =>
    (...args: A): R => {
      if (strike(false)) throw error();
      return call(...args);
    };
  const async =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      strike(false) ? Promise.reject(error()) : call(...args);
  const disk: Disk = {
    makeFolder: async(realDisk.makeFolder),
    syncFolder: async(() => Promise.resolve()),
    create: sync(realDisk.create),
    openToContinue: sync(realDisk.openToContinue),
    openToRead: sync(realDisk.openToRead),
    write(file, bytes, start, length, position) {
      const how = strike(true);
      if (how === 'fail') throw error();
      if (how === 'one byte') return realDisk.write(file, bytes, start, 1, position);
      if (how === 'half') {
        realDisk.write(file, bytes, start, Math.floor(length / 2), position);
        throw error();
      }
      return realDisk.write(file, bytes, start, length, position);
    },
    read: sync(realDisk.read),
    sizeOf: sync(realDisk.sizeOf),
    cut: sync(realDisk.cut),
    isNameless: sync(realDisk.isNameless),
    sync(file, done) {
      if (strike(false)) {
        const failure = error();
        // A dead process receives nothing any more; a test has to continue.
        setImmediate(() => done(failure));
      } else setImmediate(() => done(null));
    },
    close: (file) => {
      calls++;
      realDisk.close(file); // also for a dead process: the system closes its files
    },
    readWhole: async(realDisk.readWhole),
    rename: async(realDisk.rename),
    link: async(realDisk.link),
    remove: async(realDisk.remove),
    list: async(realDisk.list),
    listNow: sync(realDisk.listNow),
  };
  return { disk, calls: () => calls, struck: () => calls >= n };
}
