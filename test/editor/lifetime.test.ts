/** The server begins and ends with its editor. */
import { ExitNotification, ShutdownRequest } from 'vscode-languageserver-protocol/node';
import { describe, expect, it } from 'vitest';
import { startEditor } from './support/editor-session.js';

describe('mlld lsp', () => {
  it('says who it is and what it can', async () => {
    const editor = await startEditor();
    expect(editor.initialized.serverInfo?.name).toBe('mlld');
    expect(editor.initialized.capabilities).toMatchObject({ textDocumentSync: { openClose: true } });
    await editor.end();
  });

  it('ends with 0 when the editor shuts it down, and with 1 when it exits without that', async () => {
    const orderly = await startEditor();
    expect(await orderly.end()).toEqual({ stdout: expect.any(String) as string, stderr: '', status: 0 });
    const hasty = await startEditor();
    await hasty.connection.sendNotification(ExitNotification.type);
    expect(await hasty.result).toMatchObject({ stderr: '', status: 1 });
  });

  it('ends with its input, also in the middle of a message', async () => {
    const gone = await startEditor();
    gone.child.stdin.end('Content-Length: 100\r\n\r\n{"jsonrpc"');
    expect(await gone.result).toMatchObject({ stderr: '', status: 0 });
  });

  it('ends by Ctrl-C and by a signal, as every command does', async () => {
    for (const [signal, status] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const editor = await startEditor();
      await editor.open('tide.mld', 'show @tied\n');
      await editor.problems('tide.mld');
      editor.child.kill(signal);
      expect(await editor.result).toMatchObject({ stderr: '', status });
    }
  });

  it('answers other requests after one that it does not know', async () => {
    const editor = await startEditor();
    await expect(editor.connection.sendRequest('mlld/nonsense')).rejects.toThrow(/Unhandled method/);
    await expect(editor.connection.sendRequest(ShutdownRequest.type)).resolves.toBeNull();
    await editor.connection.sendNotification(ExitNotification.type);
    expect(await editor.result).toMatchObject({ status: 0 });
  });
});
