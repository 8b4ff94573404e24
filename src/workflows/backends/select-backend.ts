/** Finds the backend that `--backend`, the configuration or an option names. workflows-js.md 9. */
import { backendParts, furtherWords, MODEL_PROGRAMS } from '../../calls/backends/programs.js';
import { MlldError } from '../../errors.js';
import type { AgentBackend } from './backend.js';
import { commandBackend } from './command.js';
import { executableBackend } from './executable.js';
import { programBackend } from './program.js';
import { simulatedBackend } from './simulated.js';

export interface BackendPlace {
  /** Paths of `exe:` are relative to it. */
  readonly directory: string;
  /** Further words of programs, by their names. */
  readonly words: { readonly [program: string]: readonly string[] };
}

const WANTED = `${MODEL_PROGRAMS.map(({ name }) => name).join(', ')}, cmd:COMMAND, exe:FILE.mld#NAME or simulated`;

/** Throws AGENT_BACKEND. */
export function agentBackend(written: string | undefined, { directory, words }: BackendPlace): AgentBackend {
  if (written === undefined)
    throw new MlldError('AGENT_BACKEND', 'no backend answers the agents of this script', {
      hint: `name one with --backend, or as "agent": { "backend": … } in mlld-config.json: ${WANTED}`,
    });
  const { kind, rest } = backendParts(written);
  const found = backendOf(kind, rest, { directory, words });
  if (found) return found;
  throw new MlldError('AGENT_BACKEND', `there is no backend "${written}"`, { hint: `use ${WANTED}` });
}

function backendOf(kind: string, rest: string, { directory, words }: BackendPlace): AgentBackend | undefined {
  const program = MODEL_PROGRAMS.find(({ name }) => name === kind);
  if (program) return programBackend(program, [...(words[kind] ?? []), ...furtherWords(rest)]);
  if (kind === 'simulated') return rest === '' ? simulatedBackend : undefined;
  if (rest === '') return undefined;
  if (kind === 'cmd') return commandBackend(rest);
  return kind === 'exe' ? executableBackend(rest, directory) : undefined;
}
