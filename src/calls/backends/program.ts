/** The contract between the programs that execute model calls and those who call them. graph-pipelines.md 7.3. */

/** The settings of one call. What is not set is left to the program's own configuration. */
export interface ProgramCall {
  readonly model?: string | undefined;
  /** For a program that takes the provider as a part of the model's name. */
  readonly provider?: string | undefined;
  readonly effort?: string | undefined;
  /** The conversation to continue, as the program named it in an earlier reply. */
  readonly session?: string | undefined;
  /** The tools that the program may use without a question. */
  readonly tools?: readonly string[] | undefined;
  /** Further words of the user, for settings that are not listed here. */
  readonly words?: readonly string[] | undefined;
}

/** The settings of an agent of a workflow script, beyond those of a call. workflows-js.md 9. */
export interface AgentCall {
  readonly agentType: string | undefined;
  /** The schema of the result, as JSON text. */
  readonly schema: string | undefined;
  /** The path of a file that holds it. */
  readonly schemaFile: string | undefined;
}

/** The words of a program for agents: each call is a conversation of its own. */
export interface AgentWords {
  words(call: AgentCall): readonly string[];
  /** It has an option for the type of an agent. Otherwise the definition is put before the prompt. */
  readonly takesType?: true;
  /** It has an option for a schema. Otherwise the schema is said in the prompt. */
  readonly takesSchema?: true;
}

/** Settings that not every program has an option for. */
export type ProgramSetting = 'effort' | 'tools';

export interface ModelProgram {
  /** The name on PATH; the reply adapter and the lane have the same one. */
  readonly name: 'claude' | 'codex' | 'gemini' | 'opencode';
  /** Returns the command line, the program first. The prompt goes to its standard input. */
  words(call: ProgramCall): readonly string[];
  /** The settings that the program has no option for. */
  readonly lacks: readonly ProgramSetting[];
  readonly agents: AgentWords;
}

/** Programs take such a value for an option of its own, so that a name of a model could switch off their questions. */
export function isLikeOption(value: string): boolean {
  return value.startsWith('-');
}

/** Returns an option and its value; nothing for a value that is not set. Throws for a value that the program would take for an option. */
export function option(name: string, value: string | undefined): readonly string[] {
  if (value === undefined || value === '') return [];
  if (isLikeOption(value)) throw new Error(`the value of ${name} is ${JSON.stringify(value)}: it must not begin with "-"`);
  return [name, value];
}
