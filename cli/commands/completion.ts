/** `mlld completion bash|zsh|fish`: prints the script that a shell sources to complete the words of mlld. */
import type { Io } from '../terminal/io.js';
import { SHELL_SCRIPTS, type Shell } from '../completion/shell-scripts.js';

export async function completion(io: Io, shell: Shell): Promise<void> {
  io.stdout(SHELL_SCRIPTS[shell]);
}
