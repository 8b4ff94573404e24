/**
 * The files of a run for people and tools: what they are called, and writing them. Never the source of truth. graph-pipelines.md 11.
 *
 * F1 The folder of a node holds files of its latest visit only: it is emptied before the visit is recorded as begun. A kill in between leaves
 *    it half emptied, and the resume, for which the visit has not begun, empties it again; behind the record nothing is removed, so a visit
 *    that a crash cut short finds what its command had left.
 */
import path from 'node:path';
import type { BranchRef } from '../../../journal/pipeline-event.js';
import type { World } from '../../world/world.js';

export interface RunFolder {
  /** Absolute. */
  readonly path: string;
  stage(node: string, branch: BranchRef | undefined): StageFolder;
  artifactFile(id: string): string;
}

/** Of one visit of a node. */
export interface StageFolder {
  /** Absolute. */
  readonly path: string;
  readonly statusFile: string;
  readonly contextFile: string;
  /** Files that the visit left, relative to the run folder. */
  readonly files: ReadonlySet<string>;
  /** What a model replied. */
  readonly reply: string | undefined;
  /** Begins to write; `settled` waits for it. */
  write(name: string, text: string): void;
  remove(name: string): void;
  /** Removes what an earlier visit left (F1). */
  empty(): Promise<void>;
  /** Resolves when all that was begun is done; before a program looks at the folder, and before the visit ends. */
  settled(): Promise<void>;
}

interface FolderOptions {
  /** What may not be read in a file is hidden in it. */
  readonly hide?: (text: string) => string;
  /** No files but those of the run are in it. In a folder that somebody chose a node's may hold theirs too: only ours are removed there. */
  readonly isOwn?: boolean;
}

export function createRunFolder(folder: string, world: World, { hide = (text) => text, isOwn = true }: FolderOptions = {}): RunFolder {
  return {
    path: folder,
    stage: (node, branch) =>
      stageFolder(folder, branch ? path.join('branches', `${branch.of}.${branch.id}`, node) : node, { world, hide, isOwn }),
    artifactFile: (id) => path.join(folder, 'artifacts', `${id}.json`),
  };
}

/** Not listed among the files that a visit left: an input of its command. */
const CONTEXT = 'context.json';
const RESPONSE = 'response.md';

/** All that the engine writes there. */
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
  /** The first one makes the folder; the others need not find out that it is missing. */
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

/** A folder that is not there is empty. Links are removed, not followed. */
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
