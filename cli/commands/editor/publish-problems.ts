/** Sends the problems of the open files to the editor after each change. */
import { joinedProblems, type Editor, type Problem, type ProblemsByFile } from '../../../src/api/commands/editor/texts.js';
import { DiagnosticSeverity, type Diagnostic } from './language-server-protocol.js';

const SEVERITIES = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  note: DiagnosticSeverity.Information,
} as const satisfies { readonly [severity in Problem['severity']]: DiagnosticSeverity };

/**
 * Returns the function to call after a change, with the file that changed: its problems are sent first, those of the other open files,
 * which may import it, behind. Changes that come while a file is checked are checked together. A list is sent only when it differs from
 * the one that was sent last.
 */
export function problemPublisher(
  editor: Editor,
  send: (file: string, diagnostics: readonly Diagnostic[]) => void,
): (changed?: string) => Promise<void> {
  const known = new Map<string, ProblemsByFile>();
  const sent = new Map<string, string>();
  const waiting = new Set<string>();
  let working: Promise<void> | undefined;

  function sendAll(): void {
    const joined = joinedProblems(known.values());
    for (const file of new Set([...joined.keys(), ...known.keys(), ...sent.keys()])) {
      const diagnostics = (joined.get(file) ?? []).map(toDiagnostic);
      const text = JSON.stringify(diagnostics);
      if (sent.get(file) === text) continue;
      if (diagnostics.length === 0 && !known.has(file)) sent.delete(file);
      else sent.set(file, text);
      send(file, diagnostics);
    }
  }

  async function work(): Promise<void> {
    for (const file of waiting) {
      waiting.delete(file);
      const problems = await editor.problemsOf(file);
      if (editor.textOf(file) === undefined) known.delete(file);
      else known.set(file, problems);
      sendAll();
    }
  }

  return (changed) => {
    for (const file of known.keys()) if (editor.textOf(file) === undefined) known.delete(file);
    const files = [...(changed === undefined ? [] : [changed]), ...editor.openFiles()];
    // A file that waits already is put behind the one that changed.
    for (const file of files) waiting.delete(file);
    for (const file of files) waiting.add(file);
    working ??= work().finally(() => {
      working = undefined;
      sendAll();
    });
    return working;
  };
}

function toDiagnostic({ range, severity, code, message }: Problem): Diagnostic {
  return { range, severity: SEVERITIES[severity], source: 'mlld', code, message };
}
