/**
 * Values of `--set` that the graph declares secret (`graph [secrets="token, password"]`).
 *
 * S1 The context, and so everything that is made of it, has a mark in the place of such a value; what a run records of its own command line
 *    likewise. A kill at any time leaves nothing else behind.
 * S2 Commands of stages have the value in their environment, in `MLLD_SECRET_<KEY>`. Where a stage gives it back, the run hides it.
 * S3 It is not recorded, so a resume is given it again.
 */
import type { Json } from '../../../journal/event.js';
import { MlldError } from '../../errors.js';
import { graphAttribute, type Graph } from '../../pipeline/model/graph.js';
import { HIDDEN, UNITS_MIN } from '../../runtime/secret-registry.js';
import type { PipelineRunOptions } from './run-pipeline-options.js';
import type { World } from '../../world/world.js';

/** By key. */
export type SecretSettings = ReadonlyMap<string, string>;

/** The options as they may be recorded, and what was taken out of them. Throws SECRET_MISSING for a mark that was given as a value. */
export function separateSecrets(
  options: PipelineRunOptions,
  graph: Graph,
): { readonly given: PipelineRunOptions; readonly secrets: SecretSettings } {
  const declared = new Set((graphAttribute(graph, 'secrets') ?? '').split(',').map((key) => key.trim()));
  const secrets = new Map(Object.entries(options.set).filter(([key]) => declared.has(key)));
  if (secrets.size === 0) return { given: options, secrets };
  for (const [key, value] of secrets) if (value === HIDDEN) throw missingSecret(key);
  const set = Object.fromEntries(Object.entries(options.set).map(([key, value]) => [key, secrets.has(key) ? HIDDEN : value]));
  const argv = options.argv.map((word, index) => masked(word, options.argv[index - 1], secrets));
  return { given: { ...options, set, argv }, secrets };
}

/** Lines about values that are too short to be found again where a stage gives them back. */
export function shortSecretWarnings(secrets: SecretSettings): readonly string[] {
  const keys = [...secrets].filter(([, value]) => value.trim().length < UNITS_MIN).map(([key]) => key);
  return keys.map(
    (key) =>
      `warning: the value of ${key} is secret and shorter than ${UNITS_MIN} characters: it is not hidden where a stage gives it back`,
  );
}

/** S2 */
export async function exportSecrets(secrets: SecretSettings, world: World): Promise<void> {
  for (const [key, value] of secrets) {
    await world.perform('env.set', { name: `MLLD_SECRET_${key.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`, value });
  }
}

/** S3: throws SECRET_MISSING for what the run was given before and is not given now. */
export function requireSecrets(given: Json, secrets: SecretSettings): void {
  for (const [key, value] of Object.entries(given as { readonly [key: string]: Json })) {
    if (value === HIDDEN && !secrets.has(key)) throw missingSecret(key);
  }
}

function masked(word: string, before: string | undefined, secrets: SecretSettings): string {
  const [, option = '', key = ''] = /^(--set=)?([^=]*)=/.exec(word) ?? [];
  return secrets.has(key) && (option !== '' || before === '--set') ? `${option}${key}=${HIDDEN}` : word;
}

function missingSecret(key: string): MlldError {
  return new MlldError('SECRET_MISSING', `the value of ${key} is secret and was not recorded`, {
    hint: `give it again: --set ${key}=VALUE`,
  });
}
