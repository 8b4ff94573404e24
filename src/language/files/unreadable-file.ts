/** Makes the errors of files that cannot be read. */
import path from 'node:path';
import { MlldError } from '../../errors.js';
import { displayPath, type ResolvedPath } from '../paths.js';
import { performEffect } from '../../operation/perform-effect.js';
import type { EffectResult } from '../../world/world.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';

export type UnreadableFile = Exclude<EffectResult<'file.read'>, { text: string }>;

/** Returns an error that names the path as written, the folder that it starts from, and similar names there. `what` begins the message. */
export async function fileMissing(
  { absolute, written, root, unknown }: Pick<ResolvedPath, 'absolute' | 'written' | 'root' | 'unknown'>,
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
        hint:
          unknown ??
          (what === 'Module' && ADDRESS.test(written) ? `mlld modules add ${written}` : await nearby(absolute, written, root, frame)),
      });
    case 'directory':
      return new MlldError('FILE_UNREADABLE', `${name} is a directory, not a file`, {
        location,
        hint: `to load the files in it, write ${written.replace(/\/$/, '')}/*`,
      });
    case 'unreadable':
    case 'too-large':
      return new MlldError('FILE_UNREADABLE', `${what} can't be read: ${name}: ${detail}`, { location });
  }
}

const ADDRESS = /^[a-z][a-z\d+.-]*:\/\//i;

async function nearby(absolute: string, written: string, root: string, frame: Frame): Promise<string> {
  if (ADDRESS.test(written)) return 'this is an address, not the path of a file: fetch it with `cmd { curl … }`';
  const { names } = await performEffect(frame, 'file.similar', { path: absolute });
  const meant = names.length === 0 ? '' : `did you mean ${names.join(', ')}? `;
  return path.isAbsolute(written) ? `${meant}the path is absolute` : `${meant}the path is relative to ${startOf(written, root, frame)}`;
}

function startOf(written: string, root: string, { module, run: { settings } }: Frame): string {
  if (/^@(root|base)\b/.test(written) && root === settings.projectRoot) return 'the project root';
  // The folder of a script often is the working directory too, but paths are relative to the folder because it is the script's.
  if (root === module.directory && path.dirname(module.path) === root) return `the folder of ${module.display}`;
  return root === settings.workingDirectory ? 'the working directory' : displayPath(root, settings);
}
