/** `mlld lsp`: speaks the language server protocol on standard input and output until the editor ends it. */
import path from 'node:path';
import { Editor } from '../../../src/api/commands/editor/texts.js';
import { findProject } from '../../../src/api/commands/project.js';
import { displayPath, sourceFilesOnDisk } from '../../../src/api/commands/validator.js';
import { stackOf } from '../../../src/errors.js';
import { VERSION } from '../../../src/version.js';
import { EXIT_AFTER_SIGNAL, EXIT_FAILED, EXIT_OK } from '../../exit-codes.js';
import { validatorSettings } from '../../options/validator-settings.js';
import type { Io } from '../../terminal/io.js';
import {
  openConnection,
  openDocuments,
  TextDocumentSyncKind,
  watchFiles,
  type Connection,
  type InitializeResult,
} from './language-server-protocol.js';
import { answerRequests } from './answer-requests.js';
import { answerLenses } from './lenses.js';
import { problemPublisher } from './publish-problems.js';
import { fileOf, uriOf } from './uris.js';

const CAPABILITIES: InitializeResult['capabilities'] = {
  textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: { includeText: false } },
  completionProvider: { triggerCharacters: ['@', '.', '|'] },
  hoverProvider: true,
  definitionProvider: true,
  documentSymbolProvider: true,
  codeLensProvider: { resolveProvider: true },
  renameProvider: { prepareProvider: true },
};

/** Files on which the problems of others depend. */
const WATCHED = ['**/*.{mld,mld.md,att,mtt,json}'];

export async function lsp(io: Io): Promise<number> {
  const { input, output } = io.streams();
  return new Promise((resolve) => {
    const connection = openConnection({ input, output }, (inOrder) => resolve(inOrder ? EXIT_OK : EXIT_FAILED));
    // An editor that is gone has nothing more to say, and nothing failed.
    for (const event of ['end', 'close']) input.once(event, () => resolve(EXIT_OK));
    io.onSignal((signal, stray) => {
      if (stray) connection.console.error(stackOf(stray[0]));
      else resolve(EXIT_AFTER_SIGNAL[signal]);
    });
    connection.onInitialize(({ capabilities }) => {
      connection.onInitialized(() => watchFiles(connection, capabilities, WATCHED));
      return { capabilities: CAPABILITIES, serverInfo: { name: 'mlld', version: VERSION } };
    });
    const editor = editorOf(io);
    watchDocuments(connection, editor);
    answerRequests(connection, editor);
    answerLenses(connection, editor, io);
    connection.listen();
  });
}

function watchDocuments(connection: Connection, editor: Editor): void {
  const documents = openDocuments();
  /** Holds the addresses as the editor writes them. */
  const uris = new Map<string, string>();
  const fail = (error: unknown): void => connection.console.error(stackOf(error));
  const publish = problemPublisher(editor, (file, diagnostics) => {
    connection.sendDiagnostics({ uri: uris.get(file) ?? uriOf(file), diagnostics: [...diagnostics] }).catch(fail);
  });
  const check = (changed?: string): void => {
    publish(changed).catch(fail);
  };
  documents.onDidChangeContent(({ document }) => {
    const file = fileOf(document.uri);
    if (file === undefined) return;
    uris.set(file, document.uri);
    editor.change(file, document.getText());
    check(file);
  });
  documents.onDidClose(({ document }) => {
    const file = fileOf(document.uri);
    if (file === undefined) return;
    editor.close(file);
    check();
  });
  const refresh = (): void => {
    editor.refresh();
    check();
  };
  documents.onDidSave(refresh);
  connection.onDidChangeWatchedFiles(refresh);
  documents.listen(connection);
}

function editorOf(io: Io): Editor {
  return new Editor({
    files: sourceFilesOnDisk(),
    async settingsFor(absolute) {
      const project = await findProject(path.dirname(absolute));
      const display = (file: string): string => displayPath(file, { workingDirectory: project.root });
      return { ...validatorSettings(io, project, 'deep'), display };
    },
  });
}
