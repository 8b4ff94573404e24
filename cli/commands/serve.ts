/** `mlld serve`: runs pipelines that are sent over HTTP, and serves a page to watch them. graph-pipelines.md 13.2. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { TOKEN_VARIABLE } from '../command-table/token-variable.js';
import type { RunPageServer, RunPageSource } from '../../src/server/server.js';
import { nextSteps } from '../render/reports/next-steps.js';
import { messageOf, MlldError } from '../../src/errors.js';
import type { Io } from '../terminal/io.js';
import { openProject } from './open-project.js';

interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly maxRuns: number;
  readonly resumeRuns?: true;
  readonly json?: true;
}

/** A request says that the store is away after so long; the page asks again. Runs wait longer. */
const STORE_WAIT_MS = 2000;

export async function serve(io: Io, { host, port, token: given, tokenFile, maxRuns, resumeRuns, json }: ServeOptions): Promise<void> {
  const [{ startServer, parseTokenFile }, { project, store }, script, style] = await Promise.all([
    import('../../src/server/server.js'),
    openProject(io, { waitMs: STORE_WAIT_MS }),
    builtFile('serve.js'),
    builtFile('serve.css'),
  ]);
  // Stages are commands that clients send: they must not see the token.
  const { [TOKEN_VARIABLE]: known, ...environment } = io.environment;
  const token = given ?? known;
  const named = tokenFile === undefined ? [] : parseTokenFile(await readTokens(io, tokenFile), tokenFile);
  const server = await startServer({
    project,
    store,
    host,
    port,
    tokens: [...(token === undefined ? [] : [{ role: 'run' as const, token }]), ...named],
    page: { script, style },
    stepsOf: nextSteps,
    runsMax: maxRuns,
    resumesRuns: resumeRuns === true,
    workingDirectory: io.workingDirectory,
    environment,
    clock: { nowMs: io.todayMs, monotonicMs: io.nowMs },
    // A mark follows each line break of a stack or of a name in a journal, so that nothing behind it passes for a line of the log.
    log: (line) => io.stderr(`${line.replaceAll(/\r\n|\n|\r/g, '\n  | ')}\n`),
  });
  // Listens before the address is printed: a program that reads it may end the server at once.
  const ended = new Promise<void>((resolve) => {
    const stopListening = io.onSignal((_, stray) => {
      if (stray) {
        const [error] = stray;
        // The runs of other clients continue.
        io.stderr(`warning: code failed where nothing waited for it: ${messageOf(error)}\n`);
        return;
      }
      io.stderr('ending; the runs can be resumed\n');
      void server.close().then(() => {
        stopListening();
        resolve();
      });
    });
  });
  io.stdout(json ? `${JSON.stringify({ url: server.url, host, port: server.port })}\n` : `${server.url}\n`);
  await ended;
}

/** Serves the page of a run for `mlld journal open`: this file alone meets the server. */
export async function servePage(page: RunPageSource, log: (line: string) => void): Promise<RunPageServer> {
  const { serveRunPage } = await import('../../src/server/server.js');
  return serveRunPage(page, log);
}

/** @throws MlldError SERVE_TOKEN */
async function readTokens({ workingDirectory }: Io, file: string): Promise<string> {
  try {
    return await fs.readFile(path.resolve(workingDirectory, file), 'utf8');
  } catch (error) {
    throw new MlldError('SERVE_TOKEN', `--token-file ${file} can't be read: ${(error as Error).message}`, {
      hint: 'write a role and a token into each line, as in: read 5f0c…',
    });
  }
}

/** The page lies beside the program. */
function builtFile(name: string): Promise<string> {
  return fs.readFile(new URL(name, import.meta.url), 'utf8');
}
