/**
 * The language server protocol. It is built into a file of its own (`dist/lsp.cjs`), which is loaded by `mlld lsp` alone. The library's own
 * connection to standard input would end the process by itself; this one leaves that to the command.
 */
import {
  createConnection,
  DidChangeWatchedFilesNotification,
  ResponseError,
  TextDocuments,
  type ClientCapabilities,
  type Connection,
} from 'vscode-languageserver';
import { createProtocolConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-languageserver-protocol/node';
import { TextDocument } from 'vscode-languageserver-textdocument';

export { CompletionItemKind, DiagnosticSeverity, ErrorCodes, MarkupKind, SymbolKind, TextDocumentSyncKind } from 'vscode-languageserver';
export type { CodeLens, Connection, Diagnostic, InitializeResult } from 'vscode-languageserver';
export type { TextDocument } from 'vscode-languageserver-textdocument';

export interface Streams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** `onExit` is called when the client says so; `inOrder` is false when it did not shut the server down before. */
export function openConnection({ input, output }: Streams, onExit: (inOrder: boolean) => void): Connection {
  const lifetime = {
    shutdownReceived: false,
    // The end of the input says that the client is gone.
    initialize: () => undefined,
    exit: (code: number) => onExit(code === 0),
  };
  return createConnection(
    (logger) => createProtocolConnection(new StreamMessageReader(input), new StreamMessageWriter(output), logger),
    lifetime,
  );
}

export function openDocuments(): TextDocuments<TextDocument> {
  return new TextDocuments(TextDocument);
}

/** Asks the client to report changes of files that it does not show. One that can't do so reports those that it saves. */
export async function watchFiles({ client }: Connection, { workspace }: ClientCapabilities, patterns: readonly string[]): Promise<void> {
  if (workspace?.didChangeWatchedFiles?.dynamicRegistration !== true) return;
  const watchers = patterns.map((globPattern) => ({ globPattern }));
  await client.register(DidChangeWatchedFilesNotification.type, { watchers });
}

/** An editor shows the message of a refused request to its user. */
export function refusal(code: number, message: string): Error {
  return new ResponseError(code, message);
}
