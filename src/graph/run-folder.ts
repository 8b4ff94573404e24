/** The files of a run for people and tools: what they are called, and writing them. Never the source of truth. Reference 11. */
import path from 'node:path';
import type { BranchRef } from '../../journal/graph-event.js';
import type { World } from '../world/world.js';

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
  write(name: string, text: string): Promise<void>;
  remove(name: string): Promise<void>;
}

export function createRunFolder(folder: string, world: World): RunFolder {
  return {
    path: folder,
    stage: (node, branch) => stageFolder(folder, branch ? path.join('branches', `${branch.of}.${branch.id}`, node) : node, world),
    artifactFile: (id) => path.join(folder, 'artifacts', `${id}.json`),
  };
}

/** Not listed among the files that a visit left: an input of its command. */
const CONTEXT = 'context.json';
const RESPONSE = 'response.md';

function stageFolder(run: string, relative: string, world: World): StageFolder {
  const folder = path.join(run, relative);
  const files = new Set<string>();
  let reply: string | undefined;
  return {
    path: folder,
    statusFile: path.join(folder, 'status.json'),
    contextFile: path.join(folder, CONTEXT),
    files,
    get reply() {
      return reply;
    },
    async write(name, text) {
      if (name === RESPONSE) reply = text;
      await world.ask('file.write', { path: path.join(folder, name), text });
      if (name !== CONTEXT) files.add(path.posix.join(relative.replaceAll(path.sep, '/'), name));
    },
    async remove(name) {
      await world.ask('file.remove', { path: path.join(folder, name) });
    },
  };
}
