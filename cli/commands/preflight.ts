/** Checks a script, and everything that it imports, before it starts. world.md 17.2. */
import path from 'node:path';
import type { Project } from '../../src/api/commands/project.js';
import type { ScriptSource } from '../../src/api/commands/script.js';
import {
  MISSING_NEED,
  canValidate,
  createValidator,
  type FileReport,
  type Finding,
  type SourceFiles,
} from '../../src/api/commands/validator.js';
import { validatorSettings } from '../options/validator-settings.js';
import type { Io } from '../terminal/io.js';
import { styleFor } from '../render/style.js';
import { renderPreflightErrors, renderPreflightWarnings, warningsOf } from '../render/reports/validation.js';
import type { RunRequest } from '../options/run-request.js';

export interface Preflight {
  /** Resolves to true when the script may run. Prints errors, and warnings unless they are hidden. */
  passes(warnings: 'print' | 'hide'): Promise<boolean>;
  /** Warns of programs and packages that are missing, and of nothing else. */
  warnsOfNeeds(): Promise<void>;
  /** The names that the script, its modules and its templates read from `@payload`. */
  payloadNames(): Promise<ReadonlySet<string>>;
}

/** Reads nothing before its first method is called, and then every file once. */
export function preflightOf(
  io: Io,
  script: ScriptSource,
  project: Project,
  { mode, inject, strict }: Pick<RunRequest, 'mode' | 'inject' | 'strict'>,
): Preflight {
  const injected = new Set(inject.map((entry) => entry.slice(0, entry.indexOf('=')).trim()));
  const settings = { ...validatorSettings(io, project, 'deep'), injected };
  const main = mainFile(script, settings.files);
  const analyzer = createValidator({ ...settings, files: main.files, ...(mode && { modes: new Map([[main.path, mode]]) }) });
  const display = settings.display(main.path);
  let analysis: ReturnType<typeof analyzer.validate> | undefined;
  const analyzed = (): NonNullable<typeof analysis> => (analysis ??= analyzer.validate(main.path, display));
  return {
    async passes(warnings) {
      const report = await analyzed();
      if (!report) return true; // running it reports why it can't be read
      const style = styleFor(io.colours.stderr);
      const own = ownWarningsOf(report, project, io);
      if (warnings === 'print') io.stderr(renderPreflightWarnings(display, own, style));
      io.stderr(renderPreflightErrors(display, report, style));
      return report.valid && !(strict && refusesWarnings(own, io));
    },
    async warnsOfNeeds() {
      const report = await analyzed();
      const missing = (report ? ownWarningsOf(report, project, io) : []).filter(({ code }) => code === MISSING_NEED);
      io.stderr(renderPreflightWarnings(display, missing, styleFor(io.colours.stderr)));
    },
    async payloadNames() {
      await analyzed();
      return analyzer.payloadNames();
    },
  };
}

function refusesWarnings({ length }: readonly Finding[], io: Io): boolean {
  if (length > 0)
    io.stderr(`error: --strict: ${length === 1 ? 'a warning is an error' : `${length} warnings are errors`}; nothing was run\n`);
  return length > 0;
}

/** Leaves out what packages and published modules hold, and files outside of the project. The script itself has no `file`. */
function ownWarningsOf(report: FileReport, { root, config }: Project, io: Io): readonly Finding[] {
  const published = config.modules?.folder;
  return warningsOf(report).filter(({ file }) => {
    if (file === undefined) return true;
    const absolute = path.resolve(io.workingDirectory, file);
    if (!isBelow(root, absolute) || (published !== undefined && isBelow(path.resolve(root, published), absolute))) return false;
    return !/(?:^|[/\\])(?:node_modules|\.mlld)[/\\]/.test(path.relative(root, absolute));
  });
}

function isBelow(folder: string, file: string): boolean {
  const relative = path.relative(folder, file);
  return !path.isAbsolute(relative) && relative !== '..' && !relative.startsWith(`..${path.sep}`);
}

/** Code without a script file is checked as if a file in its folder held it, so that its imports are found from there. */
function mainFile(script: ScriptSource, files: SourceFiles): { readonly path: string; readonly files: SourceFiles } {
  if (script.kind === 'file' && canValidate(script.path)) return { path: script.path, files };
  const isText = script.kind === 'text';
  const standIn = isText ? path.join(script.directory, 'main-script.mld') : `${script.path}.mld`;
  const readText: SourceFiles['readText'] = async (absolute) => {
    if (absolute !== standIn) return files.readText(absolute);
    return isText ? script.text : files.readText(script.path);
  };
  return { path: standIn, files: { ...files, readText } };
}
