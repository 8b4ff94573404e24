/** Says that `--workers` is about llm calls of scripts: elsewhere it would be taken for input of the script, and nothing be offered. */
import { MlldError } from '../../src/errors.js';

/** Throws WORKERS. Words behind `--` are input. `executes` follows on "--workers: ". */
export function refuseWorkers(argv: readonly string[], { executes, hint }: { readonly executes: string; readonly hint?: string }): void {
  const end = argv.indexOf('--');
  const words = end === -1 ? argv : argv.slice(0, end);
  if (!words.some((word) => word === '--workers' || word.startsWith('--workers='))) return;
  const meant = 'workers take llm calls of .mld scripts (docs/team.md)';
  throw new MlldError('WORKERS', `--workers: ${executes}, and offers none`, { hint: hint === undefined ? meant : `${meant}; ${hint}` });
}
