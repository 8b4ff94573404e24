/** The project a script belongs to: its root, its configuration, its script folder. World section 4 and 20. */

export interface ProjectConfig {
  /** Folder of `mlld run`, relative to the root; default `llm/run`. */
  readonly scriptDir: string;
  readonly prefixes: readonly { readonly prefix: string; readonly basePath: string }[];
  readonly suppressWarnings: readonly string[];
}

export interface Project {
  /** Absolute. */
  readonly root: string;
  readonly config: ProjectConfig;
}
