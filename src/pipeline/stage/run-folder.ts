/**
 * Names and writes the files of a run for people and tools. They are never the source of truth. graph-pipelines.md 11.
 *
 * RUN-FOLDER-1 The folder of a node holds files of its latest visit only: it is emptied before the visit is recorded as started. A kill in
 *              between leaves it half emptied, and the resume, for which the visit has not started, empties it again. After the record
 *              nothing is removed, so a visit that a crash cut short finds what its command had left.
 */
import path from 'node:path';
import type { BranchRef } from '../../../journal/facts/pipeline-event.js';
import type { World } from '../../world/world.js';

export interface RunFolder {
  /** An absolute path. */
  readonly path: string;
  /** @param branches the branch that the node is in, behind those around it as far as they are needed to tell it from others */
  stage(node: string, branches: readonly BranchRef[]): StageFolder;
  artifactFile(id: string): string;
}

/** The folder of a node during one visit. */
export interface StageFolder {
  /** An absolute path. */
  readonly path: string;
  readonly statusFile: string;
  readonly contextFile: string;
  /** Paths of the files that the visit wrote, relative to the run folder. */
  readonly files: ReadonlySet<string>;
  /** The latest text that was written as the model's reply. */
  readonly reply: string | undefined;
  /** Starts to write a file; `settled` waits for it and throws its error. */
  write(name: string, text: string): void;
  remove(name: string): void;
  /** Removes what an earlier visit left (RUN-FOLDER-1). */
  empty(): Promise<void>;
  /** Resolves when all started writes are done. Await it before a program reads the folder, and before the visit ends. */
  settled(): Promise<void>;
}

interface FolderOptions {
  /** Hides secrets in the text of a file. */
  readonly hide?: (text: string) => string;
  /** False for a folder that the user chose: it may hold other files, so only files that the engine writes are removed. Default: true. */
  readonly isOwn?: boolean;
}

export function createRunFolder(folder: string, world: World, { hide = (text) => text, isOwn = true }: FolderOptions = {}): RunFolder {
  return {
    path: folder,
    stage(node, branches) {
      const around = branches.map(({ of, id }) => `${of}.${id}`);
      return stageFolder(folder, path.join(...(around.length > 0 ? ['branches'] : []), ...around, node), { world, hide, isOwn });
    },
    artifactFile: (id) => path.join(folder, 'artifacts', `${id}.json`),
  };
}

/** The context is an input of the stage's command, so it is not listed among the files that the visit wrote. */
const CONTEXT = 'context.json';
const RESPONSE = 'response.md';

/** The files that the engine itself may write into the folder of a node. */
const WRITTEN = ['status.json', CONTEXT, 'prompt.md', 'preamble.md', RESPONSE, 'stdout.txt', 'stderr.txt', 'steer.md'];

function stageFolder(
  run: string,
  relative: string,
  { world, hide, isOwn }: Required<FolderOptions> & { readonly world: World },
): StageFolder {
  const folder = path.join(run, relative);
  const files = new Set<string>();
  let reply: string | undefined;
  let first: Promise<unknown> | undefined;
  const pending: Promise<unknown>[] = [];
  /** Lets the first task create the folder before the others start: otherwise each would try without it first. */
  const begin = (task: () => Promise<unknown>): void => {
    const mine: Promise<unknown> = first ? first.then(task, task) : task();
    first ??= mine;
    mine.catch(() => undefined); // thrown by `settled`
    pending.push(mine);
  };
  return {
    path: folder,
    statusFile: path.join(folder, 'status.json'),
    contextFile: path.join(folder, CONTEXT),
    files,
    get reply() {
      return reply;
    },
    write(name, text) {
      if (name === RESPONSE) reply = text;
      begin(() => world.perform('file.write', { path: path.join(folder, name), text: hide(text) }));
      if (name !== CONTEXT) files.add(path.posix.join(relative.replaceAll(path.sep, '/'), name));
    },
    remove(name) {
      begin(() => world.perform('file.remove', { path: path.join(folder, name) }));
    },
    async empty() {
      await (isOwn ? emptyFolder(world, folder) : removeFiles(world, folder, WRITTEN));
    },
    async settled() {
      await Promise.all(pending.splice(0));
    },
  };
}

/** Takes a missing folder for an empty one. Links are removed, not followed. */
async function emptyFolder(world: World, folder: string): Promise<void> {
  const { files, folders } = await world.perform('file.list', { path: folder }).catch(() => ({ files: [], folders: [] }));
  await removeFiles(world, folder, files);
  for (const name of folders) {
    const inner = path.join(folder, name);
    await world.perform('file.remove', { path: inner }).catch(() => emptyFolder(world, inner));
  }
}

async function removeFiles(world: World, folder: string, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => world.perform('file.remove', { path: path.join(folder, name) })));
}
