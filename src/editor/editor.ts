/**
 * The projects behind the open files of an editor.
 *
 * EDITOR-1  Everything is about the open texts: a file is read from the disk only where the editor does not show it.
 * EDITOR-2  A view is dropped with the first change of any text, so that a result never mixes two states of the files.
 */
import { MlldError } from '../errors.js';
import type { ParsedSources } from '../validate/linking/workspace.js';
import type { SourceFiles } from '../world/files/source-files.js';
import { OpenTexts } from './open-texts.js';
import { problemsOf, type ProblemsByFile } from './problems.js';
import { viewProject, type ProjectSettings, type ProjectView } from './project-view.js';

export interface EditorHost {
  readonly files: SourceFiles;
  /** Finds the project of a file. Throws CONFIG_INVALID. */
  readonly settingsFor: (absolute: string) => Promise<ProjectSettings>;
}

export class Editor {
  private readonly texts: OpenTexts;
  private readonly sources: ParsedSources = new Map();
  private readonly settings = new Map<string, Promise<ProjectSettings>>();
  private readonly views = new Map<string, ProjectView>();

  constructor(private readonly host: EditorHost) {
    this.texts = new OpenTexts(host.files);
  }

  /** Takes the text of a file that was opened or changed. */
  change(absolute: string, text: string): void {
    this.texts.set(absolute, text);
    this.views.clear();
  }

  close(absolute: string): void {
    this.texts.close(absolute);
    this.views.clear();
  }

  /** Forgets what was read from the disk, configurations included, and parses every text as a whole again. */
  refresh(): void {
    this.sources.clear();
    this.settings.clear();
    this.views.clear();
  }

  openFiles(): readonly string[] {
    return this.texts.paths();
  }

  textOf(absolute: string): string | undefined {
    return this.texts.get(absolute);
  }

  /** Returns the project of a file. Throws CONFIG_INVALID. */
  async viewFor(absolute: string): Promise<ProjectView> {
    const known = this.settings.get(absolute) ?? this.host.settingsFor(absolute);
    this.settings.set(absolute, known);
    const settings = await known;
    const view = this.views.get(settings.projectRoot) ?? viewProject(settings, this.texts.files(), this.sources);
    this.views.set(settings.projectRoot, view);
    return view;
  }

  /** A configuration that can't be read is a problem of each file that it is about. */
  async problemsOf(absolute: string): Promise<ProblemsByFile> {
    const text = this.texts.get(absolute);
    if (text === undefined) return new Map();
    try {
      return await problemsOf(absolute, text, await this.viewFor(absolute));
    } catch (error) {
      if (!(error instanceof MlldError)) throw error;
      const { code, message, hint } = error;
      const start = { line: 0, character: 0 };
      return new Map([
        [
          absolute,
          [{ range: { start, end: start }, severity: 'error', code, message: hint === undefined ? message : `${message}\n${hint}` }],
        ],
      ]);
    }
  }
}
