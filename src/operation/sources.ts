/** Sources that a run read: kept as blobs, so that it can be replayed when the files are gone. */
import path from 'node:path';
import type { Frame } from '../language/frame.js';

export async function recordSource(frame: Frame, absolute: string, text: string, role: 'script' | 'module' | 'template'): Promise<void> {
  const { recorder, answers, settings } = frame.run;
  if (!recorder.on) return;
  const blob = await answers.keepText(text);
  if (blob === undefined) return;
  const relative = path.relative(settings.projectRoot, absolute);
  recorder.post({ type: 'source.loaded', path: relative.startsWith('..') ? absolute : relative.replaceAll(path.sep, '/'), blob, role });
}
