/** Starts `mlld lsp` for the files of mlld, and again when its path is set to another. */
import { commands, window, workspace } from 'vscode';
import { LanguageClient } from 'vscode-languageclient/node';

const DOCUMENTS = [
  { scheme: 'file', language: 'mlld' },
  { scheme: 'file', language: 'mlld-markdown' },
  { scheme: 'file', language: 'mlld-template' },
  { scheme: 'file', pattern: '**/*.dot' },
  { scheme: 'file', pattern: '**/.claude/workflows/*.{js,mjs}' },
  { scheme: 'file', pattern: '**/llm/run/**/*.{js,mjs}' },
];

let client;

export async function activate({ subscriptions }) {
  subscriptions.push(
    commands.registerCommand('mlld.restart', restart),
    workspace.onDidChangeConfiguration((change) => (change.affectsConfiguration('mlld.path') ? restart() : undefined)),
  );
  await start();
}

export async function deactivate() {
  await client?.stop().catch(() => undefined); // it may never have started
}

async function start() {
  const command = workspace.getConfiguration('mlld').get('path') || 'mlld';
  client = new LanguageClient('mlld', 'mlld', { command, args: ['lsp'] }, { documentSelector: DOCUMENTS });
  try {
    await client.start();
  } catch {
    // The library has shown the reason.
    await window.showErrorMessage(`The setting mlld.path names the program to start for mlld: it is ${command}`);
  }
}

async function restart() {
  await deactivate();
  await start();
}
