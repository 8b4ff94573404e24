/** Records the sources that a run reads as blobs, so that it can be replayed when the files are gone. */
import path from 'node:path';
import type { RunState } from '../runtime/frame.js';
import type { Settings } from '../runtime/settings.js';
import { hideLiterals } from './secret-literals.js';

export type SourceRole = 'script' | 'module' | 'template';

/** A module with a name, a version and a digest in the lock of the project. */
interface PublishedSource {
  readonly name: string;
  readonly version?: string;
  readonly sha256: string;
}

/** The ports that recording a source needs. */
type SourceRun = Pick<RunState, 'cache' | 'recorder' | 'secrets'> & { readonly settings: Pick<Settings, 'projectRoot'> };

export async function recordSource(
  { run }: { readonly run: SourceRun },
  absolute: string,
  text: string,
  role: SourceRole,
  published?: PublishedSource,
): Promise<void> {
  const { recorder, cache, settings, secrets } = run;
  if (!recorder.on) return;
  const hidden = role === 'template' || /\.m?js$/.test(absolute) ? undefined : hideLiterals(text);
  hidden?.literals.forEach((literal) => secrets.add(literal));
  const blob = await cache.keepText(secrets.redact(hidden?.text ?? text));
  if (blob === undefined) return;
  const name = sourceName(settings, absolute);
  const whole = hidden ? { whole: await cache.secretPayload(text, name) } : {};
  const module = published && {
    module: { name: published.name, sha256: published.sha256, ...(published.version !== undefined && { version: published.version }) },
  };
  recorder.post({ type: 'source.loaded', path: name, blob, role, ...whole, ...module });
}

/** Returns the name of a source in the journal: its path in the project, else its absolute path. */
export function sourceName({ projectRoot }: Pick<Settings, 'projectRoot'>, absolute: string): string {
  const relative = path.relative(projectRoot, absolute);
  return relative.startsWith('..') ? absolute : relative.replaceAll(path.sep, '/');
}
