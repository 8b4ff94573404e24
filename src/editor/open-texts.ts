/** The files of a project as an editor shows them: the texts that are open there, before those on the disk. */
import type { SourceFiles } from '../world/files/source-files.js';

export class OpenTexts {
  private readonly texts = new Map<string, string>();

  constructor(private readonly disk: SourceFiles) {}

  set(absolute: string, text: string): void {
    this.texts.set(absolute, text);
  }

  close(absolute: string): void {
    this.texts.delete(absolute);
  }

  get(absolute: string): string | undefined {
    return this.texts.get(absolute);
  }

  paths(): readonly string[] {
    return [...this.texts.keys()];
  }

  /** Returns the files with the open texts, as they are whenever one is read. A new file that was never saved is there too. */
  files(): SourceFiles {
    const { disk, texts } = this;
    return {
      readText: async (absolute) => texts.get(absolute) ?? disk.readText(absolute),
      kindOf: async (absolute) => (texts.has(absolute) ? 'file' : disk.kindOf(absolute)),
      isProgram: (absolute) => disk.isProgram(absolute),
      list: (absolute) => disk.list(absolute),
    };
  }
}
