/** Renders why a run was paused: the lane or the budget, and when it is there again. calls.md 14.5. */
import { oneLine } from './one-line.js';

export function renderPause(error: unknown): string {
  const { message, hint } = error as { readonly message: string; readonly hint?: string | undefined };
  return `${oneLine(message)}\n${hint === undefined ? '' : `  hint: ${oneLine(hint)}\n`}`;
}
