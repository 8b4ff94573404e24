/**
 * Lets an agent work in a git worktree of its own. workflows-js.md 9.4.
 *
 * WORKTREE-1  A worktree in which something changed is kept and named; any other is removed, also after a failure.
 * WORKTREE-2  From its making to the end of the agent's work, a worktree is locked in the name of the run. What a killed run left is
 *             found by that name, so that no other worktree is ever touched. Git makes the lock before the worktree: there is no moment
 *             at which a kill would leave one that nobody owns.
 */
import path from 'node:path';
import { performEffect } from '../../operation/perform-effect.js';
import { AttemptFailed } from '../../runtime/calls/call-failure.js';
import type { Frame } from '../../runtime/frame.js';
import { commandOf } from '../../calls/backends/programs.js';
import type { CommandResult } from '../../world/world.js';

const WORKTREES = path.join('.mlld', 'worktrees');

export interface WorktreeRequest {
  readonly name: string;
  /** The run in whose name it is locked; undefined where no later run would know of this one. */
  readonly owner: string | undefined;
}

export async function inWorktree<T>(frame: Frame, { name, owner }: WorktreeRequest, work: (directory: string) => Promise<T>): Promise<T> {
  const { projectRoot } = frame.run.settings;
  const directory = await addWorktree(frame, path.join(projectRoot, WORKTREES, name), owner);
  try {
    return await work(directory);
  } finally {
    await removeUnchanged(frame, directory, projectRoot);
  }
}

/** Warns of a reused result whose kept worktree is gone. */
export async function warnIfGone(frame: Frame, directory: string | undefined, name: string): Promise<void> {
  if (directory === undefined) return;
  const { kind } = await performEffect(frame, 'file.stat', { path: directory });
  const relative = path.relative(frame.run.settings.projectRoot, directory);
  if (kind === 'none') frame.run.warn(`the worktree that the agent ${name} changed is gone: ${relative}; its result is reused`);
}

/** Removes the unchanged worktrees that runs of these names left, and names the others. */
export async function removeLeftWorktrees(frame: Frame, owners: ReadonlySet<string>): Promise<void> {
  const { projectRoot } = frame.run.settings;
  if (owners.size === 0) return;
  const { kind } = await performEffect(frame, 'file.stat', { path: path.join(projectRoot, WORKTREES) });
  if (kind === 'none') return;
  const listed = await git(frame, projectRoot, ['worktree', 'list', '--porcelain', '-z']);
  if (listed.exitCode !== 0) return; // no git repository any more
  for (const each of listed.stdout.split('\0\0')) {
    const lines = each.split('\0');
    const directory = lines.find((line) => line.startsWith(FOLDER))?.slice(FOLDER.length);
    const owner = lines.find((line) => line.startsWith(LOCKED))?.slice(LOCKED.length);
    if (directory !== undefined && owner !== undefined && owners.has(owner)) await removeUnchanged(frame, directory, projectRoot);
  }
}

const FOLDER = 'worktree ';
const LOCKED = 'locked ';

/** A worktree of that name may have been kept. */
const NAMES_MAX = 100;

async function addWorktree(frame: Frame, wanted: string, owner: string | undefined): Promise<string> {
  const { projectRoot } = frame.run.settings;
  const lock = owner === undefined ? [] : ['--lock', '--reason', owner]; // WORKTREE-2
  for (let number = 1; ; number++) {
    const directory = number === 1 ? wanted : `${wanted}-${number}`;
    const { kind } = await performEffect(frame, 'file.stat', { path: directory });
    if (kind !== 'none' && number < NAMES_MAX) continue;
    const made = await git(frame, projectRoot, ['worktree', 'add', '--detach', ...lock, directory]);
    if (made.exitCode === 0) return directory;
    const reason = made.stderr.trim().split('\n').at(-1) ?? '';
    throw new AttemptFailed({ class: 'crash', evidence: 'none', message: `no worktree could be made: ${reason}` });
  }
}

/** WORKTREE-1. The lock goes last, with the worktree: unlocked first, it would have no owner after a kill in between. WORKTREE-2 */
async function removeUnchanged(frame: Frame, directory: string, projectRoot: string): Promise<void> {
  const relative = path.relative(projectRoot, directory);
  const { kind } = await performEffect(frame, 'file.stat', { path: directory });
  if (kind !== 'none' && (await isChanged(frame, directory))) {
    await git(frame, projectRoot, ['worktree', 'unlock', directory]);
    return frame.run.warn(`an agent changed files in its worktree, which is kept: ${relative}`, 'worktree kept');
  }
  const removed = await git(frame, projectRoot, ['worktree', 'remove', '--force', '--force', directory]);
  if (removed.exitCode !== 0 && kind !== 'none') frame.run.warn(`the worktree ${relative} could not be removed: ${removed.stderr.trim()}`);
}

async function isChanged(frame: Frame, directory: string): Promise<boolean> {
  const status = await git(frame, directory, ['status', '--porcelain', '--ignored=no']);
  const head = await git(frame, directory, ['log', '-1', '--format=%H', '--not', '--branches', '--remotes']);
  return status.exitCode !== 0 || status.stdout.trim() !== '' || head.stdout.trim() !== '';
}

function git(frame: Frame, directory: string, words: readonly string[]): Promise<CommandResult> {
  return performEffect(frame, 'command.run', { ...commandOf(['git', ...words]), directory, variables: {} });
}
