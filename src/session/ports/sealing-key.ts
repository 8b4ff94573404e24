/** Finds the key that seals secret results in the journal: in `MLLD_JOURNAL_KEY`, or in a file that `MLLD_JOURNAL_KEY_FILE` names. */
import path from 'node:path';
import type { SealingKey } from '../../../journal/secrets/keyring.js';
import { parseSealingKey } from '../../../journal/secrets/keyring.js';
import { MlldError } from '../../errors.js';
import type { RunOptions } from '../script/run-options.js';
import type { World } from '../../world/world.js';

const KEY = 'MLLD_JOURNAL_KEY';
const KEY_FILE = 'MLLD_JOURNAL_KEY_FILE';

/** Undefined if none is configured: then the project's own key is used. A file is relative to the project. Throws `JOURNAL_KEY_INVALID`. */
export async function sealingKeyFor(
  { environment, project }: Pick<RunOptions, 'environment' | 'project'>,
  world: Pick<World, 'perform'>,
): Promise<SealingKey> {
  const key = environment[KEY];
  if (key === 'none') return 'none';
  if (key) return parseSealingKey(key, KEY);
  const file = environment[KEY_FILE];
  if (!file) return undefined;
  const read = await world.perform('file.read', { path: path.resolve(project.root, file) });
  if ('text' in read) return parseSealingKey(read.text, file);
  throw new MlldError('JOURNAL_KEY_INVALID', `${KEY_FILE}: ${file} can't be read`, { hint: 'openssl rand -hex 32 makes a key' });
}
