/** The key with which results are sealed that may not be read in the journal: `MLLD_JOURNAL_KEY`, or a file that holds it. */
import path from 'node:path';
import type { SealingKey } from '../../../journal/secrets/keyring.js';
import { parseSealingKey } from '../../../journal/secrets/keyring.js';
import { MlldError } from '../../errors.js';
import type { RunOptions } from '../script/run-options.js';
import type { World } from '../../world/world.js';

const KEY = 'MLLD_JOURNAL_KEY';
const KEY_FILE = 'MLLD_JOURNAL_KEY_FILE';

/** Undefined when nothing is configured: the project's own key does. A file is relative to the project. Throws `JOURNAL_KEY_INVALID`. */
export async function sealingKeyFor(
  { environment, project }: Pick<RunOptions, 'environment' | 'project'>,
  world: Pick<World, 'perform'>,
): Promise<SealingKey> {
  const given = environment[KEY];
  if (given === 'none') return 'none';
  if (given) return parseSealingKey(given, KEY);
  const file = environment[KEY_FILE];
  if (!file) return undefined;
  const answer = await world.perform('file.read', { path: path.resolve(project.root, file) });
  if ('text' in answer) return parseSealingKey(answer.text, file);
  throw new MlldError('JOURNAL_KEY_INVALID', `${KEY_FILE}: ${file} can't be read`, { hint: 'openssl rand -hex 32 makes a key' });
}

/** What the script and its commands see: the journal's key is none of their business. */
export function withoutSealingKey(environment: RunOptions['environment']): RunOptions['environment'] {
  const { [KEY]: _, ...rest } = environment;
  return rest;
}
