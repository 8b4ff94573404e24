/** An editor that speaks the protocol with `mlld lsp`, a process of its own. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  createProtocolConnection, DidChangeTextDocumentNotification, DidCloseTextDocumentNotification, DidOpenTextDocumentNotification,
  DidChangeWatchedFilesNotification, ExitNotification, FileChangeType, InitializedNotification, InitializeRequest, PublishDiagnosticsNotification,
  ShutdownRequest, StreamMessageReader, StreamMessageWriter, type Diagnostic, type InitializeResult, type Position, type Range,
} from 'vscode-languageserver-protocol/node'; // prettier-ignore
import { resultOf, startCli, type CliProcess, type CliResult } from '../../support/cli.js';

export interface EditorSession {
  readonly child: CliProcess;
  readonly folder: string;
  readonly connection: ReturnType<typeof createProtocolConnection>;
  readonly initialized: InitializeResult;
  readonly result: Promise<CliResult>;
  /** Shows a file with this text, which is not saved. */
  open(name: string, text: string): Promise<void>;
  /** Changes the text between two positions, or all of it. */
  change(name: string, text: string, range?: Range): Promise<void>;
  close(name: string): Promise<void>;
  /** Writes a file that the editor does not show, and tells the server about it. */
  write(name: string, text: string): Promise<void>;
  /** Waits until the problems of a file satisfy the test, those that have come already included. */
  problems(name: string, test?: (problems: readonly Diagnostic[]) => boolean): Promise<readonly Diagnostic[]>;
  document(name: string): { readonly uri: string };
  /** Shuts the server down in order. */
  end(): Promise<CliResult>;
}

/** Writes the files into a new project, and starts the server there. */
export async function startEditor(files: { readonly [name: string]: string } = {}): Promise<EditorSession> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'editor-'));
  for (const [name, text] of Object.entries({ 'mlld-config.json': '{}\n', ...files })) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return connect(folder);
}

async function connect(folder: string): Promise<EditorSession> {
  const child = startCli(['lsp'], { cwd: folder });
  const result = resultOf(child);
  const connection = createProtocolConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
  const received = new Map<string, readonly Diagnostic[]>();
  const waiting = new Set<() => void>();
  connection.onNotification(PublishDiagnosticsNotification.type, ({ uri, diagnostics }) => {
    received.set(uri, diagnostics);
    for (const look of waiting) look();
  });
  connection.listen();
  const document = (name: string): { uri: string } => ({ uri: pathToFileURL(path.join(folder, name)).href });
  const initialized = await connection.sendRequest(InitializeRequest.type, {
    processId: null,
    rootUri: pathToFileURL(folder).href,
    capabilities: {},
    workspaceFolders: null,
  });
  await connection.sendNotification(InitializedNotification.type, {});
  let version = 1;
  return {
    child,
    folder,
    connection,
    initialized,
    result,
    document,
    open: (name, text) =>
      connection.sendNotification(DidOpenTextDocumentNotification.type, {
        textDocument: { ...document(name), languageId: 'mlld', version: (version += 1), text },
      }),
    change: (name, text, range) =>
      connection.sendNotification(DidChangeTextDocumentNotification.type, {
        textDocument: { ...document(name), version: (version += 1) },
        contentChanges: [range ? { range, text } : { text }],
      }),
    close: (name) => connection.sendNotification(DidCloseTextDocumentNotification.type, { textDocument: document(name) }),
    async write(name, text) {
      writeFileSync(path.join(folder, name), text);
      await connection.sendNotification(DidChangeWatchedFilesNotification.type, {
        changes: [{ ...document(name), type: FileChangeType.Changed }],
      });
    },
    problems: (name, test = () => true) =>
      new Promise((resolve) => {
        const look = (): void => {
          const problems = received.get(document(name).uri);
          if (problems === undefined || !test(problems)) return;
          waiting.delete(look);
          resolve(problems);
        };
        waiting.add(look);
        look();
      }),
    async end() {
      await connection.sendRequest(ShutdownRequest.type);
      await connection.sendNotification(ExitNotification.type);
      return result;
    },
  };
}

/** A text with `|` where the cursor is, or `¦` where it has bars of its own, as the text and the position. */
export function withCursor(marked: string): { readonly text: string; readonly position: Position } {
  const sign = marked.includes('¦') ? '¦' : '|';
  const before = marked.slice(0, marked.indexOf(sign));
  const position = { line: before.split('\n').length - 1, character: before.length - before.lastIndexOf('\n') - 1 };
  return { text: marked.replace(sign, ''), position };
}
