/**
 * Names the files of a journal. All of them are in `.mlld/journal` of the project:
 *
 *   <workflow>/runs/<run-id>.ndjson   and beside it <run-id>.lock while its writer lives
 *   <workflow>/<derived data, such as the index>   and beside the index <name>.tier, its parts
 *   blobs/ab/<64 hex digits>
 *   blobs/packs/<number>-<8 hex digits>.pack   and beside it <number>-<8 hex digits>.lock while a process appends to it
 */
import { join } from 'node:path';
import { isDigest, isRunId, type BlobId, type RunId, type RunRef, type Workflow } from '../ids.js';
import { sha256Hex } from '../sha256.js';

/** Characters of a folder name. File systems allow 255 bytes, and the path above it needs some room. */
const FOLDER_NAME_MAX = 160;
const DIGEST_DIGITS = 40;
const RUN_SUFFIX = '.ndjson';
const BLOBS = 'blobs';
const TIER_FILE = /^([0-9a-z]{1,12}-[0-9a-f]{8})\.tier$/;
const UNFINISHED_TIER = /^[0-9a-z]{1,12}-[0-9a-f]{8}\.tier\.([0-9a-f]{12})[0-9a-f]{12}\.tmp$/;
const PACK_SUFFIX = '.pack';
const PACK_FILE = /^(\d{1,9}-[0-9a-f]{8})\.pack$/;

export const journalFolder = (projectRoot: string): string => join(projectRoot, '.mlld', 'journal');
export const workflowFolder = (journal: string, workflow: Workflow): string => join(journal, folderName(workflow));
export const runsFolderOf = (journal: string, folder: string): string => join(journal, folder, 'runs');
export const runsFolder = (journal: string, workflow: Workflow): string => runsFolderOf(journal, folderName(workflow));
export const runPath = (journal: string, { workflow, run }: RunRef): string => join(runsFolder(journal, workflow), run + RUN_SUFFIX);
export const lockPath = (journal: string, { workflow, run }: RunRef): string => join(runsFolder(journal, workflow), `${run}.lock`);

export const tierPath = (journal: string, workflow: Workflow, name: string): string =>
  join(workflowFolder(journal, workflow), `${name}.tier`);

/** Returns the part of an index that a file holds; undefined for other files. */
export function tierOfFile(fileName: string): string | undefined {
  return TIER_FILE.exec(fileName)?.[1];
}

export const unfinishedTierPath = (path: string, begunMs: number, digits: string): string =>
  `${path}.${begunMs.toString(16).padStart(12, '0')}${digits}.tmp`;

/** Returns when a part of an index was begun that was not written to its end; undefined for other files. */
export function unfinishedTier(fileName: string): number | undefined {
  const digits = UNFINISHED_TIER.exec(fileName)?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 16);
}

export const blobsFolder = (journal: string): string => join(journal, BLOBS);
export const blobFolder = (journal: string, firstDigits: string): string => join(journal, BLOBS, firstDigits);

export function blobPath(journal: string, id: BlobId): string {
  const digits = id.slice('sha256:'.length);
  return join(blobFolder(journal, digits.slice(0, 2)), digits);
}

/** Returns the blob that a file holds; undefined for a temporary file or one in the trash. */
export function blobOfFile(fileName: string): BlobId | undefined {
  const id = `sha256:${fileName}`;
  return isDigest(id) ? id : undefined;
}

export const packsFolder = (journal: string): string => join(journal, BLOBS, 'packs');

/** No two packs of a journal ever have the same name: what a process knows of one that was removed is never mistaken for another. */
export type PackName = `${number}-${string}`;

export const packFile = (folder: string, name: PackName): string => join(folder, name + PACK_SUFFIX);
export const packLock = (folder: string, name: PackName): string => join(folder, `${name}.lock`);

/** Returns the pack that a file in the folder of packs holds; undefined for other files. */
export function packOfFile(fileName: string): PackName | undefined {
  return PACK_FILE.exec(fileName)?.[1] as PackName | undefined;
}

/** Returns the run that a file in a `runs` folder holds; undefined for locks and unknown files. */
export function runOfFile(fileName: string): RunId | undefined {
  const run = fileName.endsWith(RUN_SUFFIX) ? fileName.slice(0, -RUN_SUFFIX.length) : '';
  return isRunId(run) ? run : undefined;
}

/**
 * Returns the folder name of a project-relative path. `/` becomes `+`; all but lower-case letters, digits, `.`, `_` and `-` becomes `%` and
 * the hex digits of its UTF-8 bytes, so that names differ also where the file system ignores case. A name that gets too long
 * ends with `~` and a digest; then only the run's first event knows the path.
 */
export function folderName(workflow: Workflow): string {
  const name = workflow.replaceAll(/[^a-z0-9._/-]|^\.|\.$/gu, escapeBytes).replaceAll('/', '+');
  if (name === BLOBS) return escapeBytes('b') + name.slice(1);
  if (name.length <= FOLDER_NAME_MAX) return name;
  return `${name.slice(0, FOLDER_NAME_MAX - DIGEST_DIGITS - 1)}~${sha256Hex(workflow).slice(0, DIGEST_DIGITS)}`;
}

/** Returns the path; `'shortened'` when the name doesn't hold all of it; undefined for a folder that isn't a workflow's. */
export function workflowOfFolder(name: string): Workflow | 'shortened' | undefined {
  if (/^[a-z0-9._+%-]+~[0-9a-f]{40}$/.test(name)) return 'shortened';
  if (name === BLOBS || !/^[a-z0-9._+%-]+$/.test(name)) return undefined;
  let workflow: Workflow;
  try {
    workflow = decodeURIComponent(name.replaceAll('+', '/')) as Workflow;
  } catch {
    return undefined;
  }
  // Only a name that this program would write: two folders never belong to one workflow.
  return folderName(workflow) === name ? workflow : undefined;
}

function escapeBytes(character: string): string {
  return Buffer.from(character).toString('hex').replaceAll(/../g, '%$&');
}
