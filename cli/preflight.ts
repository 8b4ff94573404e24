/** The look at a script, and at everything it imports, before `mlld run` starts it. World section 17.2. */
import { canAnalyze, createAnalyzer } from '../src/analyze/analyze.js';
import type { Project } from '../src/project.js';
import { analyzeSettings } from './analyze-settings.js';
import type { Io } from './io.js';
import { paintFor } from './render/paint.js';
import { renderPreflightErrors, renderPreflightWarnings } from './render/validation.js';

/** Whether the script may run. Says what is against it, and unless asked not to, what is doubtful. */
export async function passesPreflight(io: Io, script: string, project: Project, warnings: 'print' | 'hide'): Promise<boolean> {
  if (!canAnalyze(script)) return true;
  const settings = analyzeSettings(io, project, 'deep');
  const display = settings.display(script);
  const report = await createAnalyzer(settings).analyze(script, display);
  if (!report) return true; // whoever runs it says why it can't be read
  const paint = paintFor(io.colours.stderr);
  if (warnings === 'print') io.stderr(renderPreflightWarnings(display, report, paint));
  io.stderr(renderPreflightErrors(display, report, paint));
  return report.valid;
}
