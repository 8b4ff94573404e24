/** The port to the files that calls wrote and their arguments name. calls.md 22. */
import type { ReusedOutput, WrittenFile } from '../../../journal/facts/call-event.js';
import type { OpPath } from '../../../journal/ids.js';
import type { CachedResult } from './result-cache.js';

/** All paths are relative to the project's folder, with slashes. */
export interface CallFiles {
  /** False: `calls.files` of the configuration switches them off, except for functions with the option `files: "keep"`. */
  readonly keepsByDefault: boolean;
  /** Notes how files look before a call. */
  look(paths: readonly string[]): Promise<FilesBefore>;
  /** Stores those that were written since, or lists them; durable when this resolves. */
  keep(before: FilesBefore, rules: KeepRules): Promise<readonly WrittenFile[]>;
  /** Finds out what reusing a result needs, and changes nothing. */
  find(files: readonly WrittenFile[]): Promise<FoundFiles>;
  /** Restores what is missing. `fn` is the function of the call, for what the run reports at its end. */
  restore(files: readonly WrittenFile[], found: FoundFiles, call: ReusedCall): Promise<readonly ReusedOutput[]>;
}

/** By path: the stamp of the file, and the digest of its content if a write could leave the stamp. */
export type FilesBefore = ReadonlyMap<string, { readonly stamp: string; readonly digest?: string }>;

export interface KeepRules {
  /** Declared outputs, which have rules of their own. */
  readonly except: ReadonlySet<string>;
  /** A secret is in the call or in its result, so that no content is stored. */
  readonly isSecret: boolean;
  /** Returns true for a text that has a known secret in it; undefined when no secret is known. */
  readonly hidesText: ((text: string) => boolean) | undefined;
}

export interface FoundFiles {
  /** Files that are missing, and whose content was not kept or can't be read. */
  readonly gone: readonly string[];
  /** The contents of files that are missing. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

export interface ReusedCall extends Pick<CachedResult, 'from'> {
  readonly fn: string;
  /** Names the place at which this run made it. */
  readonly op: OpPath;
}
