/**
 * Values of `--set` that the graph declares secret (`graph [secrets="token, password"]`).
 *
 * SECRET-SETTING-1  The context, and everything made from it, holds a mark in the place of such a value; so does the recorded command line.
 *                   A kill at any time leaves nothing else behind.
 * SECRET-SETTING-2  Commands of stages find the value in the environment variable `MLLD_SECRET_<KEY>`. If a stage returns it, the run
 *                   hides it.
 * SECRET-SETTING-3  It is not recorded, so it must be passed again with `--resume`.
 */
import type { Json } from '../../../journal/event.js';
import { MlldError } from '../../errors.js';
import { graphAttribute, type Graph } from '../../pipeline/model/graph.js';
import { HIDDEN, UNITS_MIN } from '../../runtime/secrets/secret-registry.js';
import type { PipelineRunOptions } from './run-pipeline-options.js';
import type { World } from '../../world/world.js';

/** The values by key. */
export type SecretSettings = ReadonlyMap<string, string>;

/** Separates the options as they may be recorded from secret values. Throws SECRET_MISSING for a value that is only the mark. */
export function separateSecrets(
  options: PipelineRunOptions,
  graph: Graph,
): { readonly recordable: PipelineRunOptions; readonly secrets: SecretSettings } {
  const declared = new Set((graphAttribute(graph, 'secrets') ?? '').split(',').map((key) => key.trim()));
  const secrets = new Map(Object.entries(options.set).filter(([key]) => declared.has(key)));
  if (secrets.size === 0) return { recordable: options, secrets };
  for (const [key, value] of secrets) if (value === HIDDEN) throw missingSecret(key);
  const set = Object.fromEntries(Object.entries(options.set).map(([key, value]) => [key, secrets.has(key) ? HIDDEN : value]));
  const argv = options.argv.map((word, index) => masked(word, options.argv[index - 1], secrets));
  return { recordable: { ...options, set, argv }, secrets };
}

/** Warns about values that are too short to be recognised in what a stage returns. */
export function shortSecretWarnings(secrets: SecretSettings): readonly string[] {
  const keys = [...secrets].filter(([, value]) => value.trim().length < UNITS_MIN).map(([key]) => key);
  return keys.map(
    (key) => `warning: the value of ${key} is secret and shorter than ${UNITS_MIN} characters: it is not hidden if a stage returns it`,
  );
}

/** SECRET-SETTING-2 */
export async function exportSecrets(secrets: SecretSettings, world: World): Promise<void> {
  for (const [key, value] of secrets) {
    await world.perform('env.set', { name: `MLLD_SECRET_${key.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`, value });
  }
}

/** SECRET-SETTING-3. Throws SECRET_MISSING for a secret that the recorded settings have and this run lacks. */
export function requireSecrets(recorded: Json, secrets: SecretSettings): void {
  for (const [key, value] of Object.entries(recorded as { readonly [key: string]: Json })) {
    if (value === HIDDEN && !secrets.has(key)) throw missingSecret(key);
  }
}

function masked(word: string, before: string | undefined, secrets: SecretSettings): string {
  const [, option = '', key = ''] = /^(--set=)?([^=]*)=/.exec(word) ?? [];
  return secrets.has(key) && (option !== '' || before === '--set') ? `${option}${key}=${HIDDEN}` : word;
}

function missingSecret(key: string): MlldError {
  return new MlldError('SECRET_MISSING', `the value of ${key} is secret and was not recorded`, {
    hint: `pass it again: --set ${key}=VALUE`,
  });
}
