/** Sources that a run read: kept as blobs, so that it can be replayed when the files are gone. */
import path from 'node:path';
import type { Frame } from '../runtime/frame.js';
import { hideLiterals } from './secret-literals.js';

export type SourceRole = 'script' | 'module' | 'template';

export async function recordSource(frame: Frame, absolute: string, text: string, role: SourceRole): Promise<void> {
  const { recorder, cache: answers, settings, secrets } = frame.run;
  if (!recorder.on) return;
  const hidden = role === 'template' ? undefined : hideLiterals(text);
  hidden?.literals.forEach((literal) => secrets.add(literal));
  const blob = await answers.keepText(secrets.redact(hidden?.text ?? text));
  if (blob === undefined) return;
  const relative = path.relative(settings.projectRoot, absolute);
  const name = relative.startsWith('..') ? absolute : relative.replaceAll(path.sep, '/');
  const whole = hidden ? { whole: await answers.secretPayload(text, name) } : {};
  recorder.post({ type: 'source.loaded', path: name, blob, role, ...whole });
}
