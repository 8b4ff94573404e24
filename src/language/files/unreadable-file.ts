/** Files that cannot be read, and what to say about them. */
import path from 'node:path';
import { MlldError } from '../../errors.js';
import { displayPath, type ResolvedPath } from '../paths.js';
import { performEffect } from '../../operation/perform-effect.js';
import type { EffectResult } from '../../world/world.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';

export type UnreadableFile = Exclude<EffectResult<'file.read'>, { text: string }>;

/** The error that names the path as written, what it is relative to, and what may have been meant. `what` begins the sentence. */
export async function fileMissing(
  { absolute, written, root }: Pick<ResolvedPath, 'absolute' | 'written' | 'root'>,
  { missing, detail }: UnreadableFile,
  frame: Frame,
  at: number,
  what = 'File',
): Promise<MlldError> {
  const location = locationOf(frame.module, at);
  const name = written.includes('@') ? `${written} (${displayPath(absolute, frame.run.settings)})` : written;
  switch (missing) {
    case 'absent':
      return new MlldError('FILE_NOT_FOUND', `${what} not found: ${name}`, {
        location,
        hint: await nearby(absolute, written, root, frame),
      });
    case 'directory':
      return new MlldError('FILE_UNREADABLE', `${name} is a directory, not a file`, {
        location,
        hint: `for the files in it write ${written.replace(/\/$/, '')}/*`,
      });
    case 'unreadable':
    case 'too-large':
      return new MlldError('FILE_UNREADABLE', `${what} can't be read: ${name}: ${detail}`, { location });
  }
}

async function nearby(absolute: string, written: string, root: string, frame: Frame): Promise<string> {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(written)) return 'this is an address, and paths are of files: fetch it with `cmd { curl … }`';
  const { names } = await performEffect(frame, 'file.similar', { path: absolute });
  const meant = names.length === 0 ? '' : `did you mean ${names.join(', ')}? `;
  return path.isAbsolute(written) ? `${meant}the path is absolute` : `${meant}the path is relative to ${startOf(written, root, frame)}`;
}

function startOf(written: string, root: string, { module, run: { settings } }: Frame): string {
  if (/^@(root|base)\b/.test(written) && root === settings.projectRoot) return 'the project root';
  // The folder of a script often is the working directory as well, and calling it that would teach the wrong rule.
  if (root === module.directory && path.dirname(module.path) === root) return `the folder of ${module.display}`;
  return root === settings.workingDirectory ? 'the working directory' : displayPath(root, settings);
}
