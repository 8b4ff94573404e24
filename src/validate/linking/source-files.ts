/** What the analysis asks of the disk. It reads and never writes; `src/world/files/source-files.ts` answers from the real one. */
export interface SourceFiles {
  /** Undefined when it can't be read as a file of text. */
  readText(absolute: string): Promise<string | undefined>;
  kindOf(absolute: string): Promise<'file' | 'directory' | 'none'>;
  /** Names of the entries, each list sorted; all empty for what can't be listed. */
  list(absolute: string): Promise<FolderEntries>;
}

export interface FolderEntries {
  readonly files: readonly string[];
  readonly folders: readonly string[];
  /** Links to folders: a module like any other, but a walk that follows them may go in circles. */
  readonly linkedFolders: readonly string[];
}
