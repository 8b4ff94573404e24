/** `mlld serve`: pipelines over HTTP, and a page to watch them. graph-pipelines.md 13.2. */
import fs from 'node:fs/promises';
import { InvalidArgumentError, type Command } from 'commander';
import type { Io } from '../terminal/io.js';
import { projectStore } from '../project-store.js';
import { examples } from '../render/examples.js';

interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly token?: string;
  readonly maxRuns: number;
  readonly resumeRuns?: true;
  readonly json?: true;
}

const TOKEN_VARIABLE = 'MLLD_SERVE_TOKEN';
const PORT_MAX = 65_535;

export function addServeCommand(program: Command, io: Io): void {
  program
    .command('serve')
    .description('run pipelines that are sent over HTTP, and show them on a page; Ctrl-C ends it, and its runs in order')
    .option('--host <address>', 'where to listen; anything but this machine needs a token', '127.0.0.1')
    .option('--port <number>', 'where to listen; 0 takes any that is free', wholeNumber(0, PORT_MAX), 7411)
    .option('--token <token>', `what clients have to send as Authorization: Bearer TOKEN (better: the variable ${TOKEN_VARIABLE})`)
    .option('--max-runs <number>', 'how many pipelines may run at a time', wholeNumber(1, Number.MAX_SAFE_INTEGER), 64)
    .option('--resume-runs', 'go on with the runs that an earlier server left when it was killed or ended')
    .option('--json', 'print the address as a line of JSON')
    .addHelpText(
      'after',
      examples([
        'mlld serve',
        'mlld serve --port 0 --json',
        `${TOKEN_VARIABLE}=$(openssl rand -hex 32) mlld serve --host 0.0.0.0`,
        `jq -n --rawfile dot release.dot '{dot: $dot}' | curl -d @- http://127.0.0.1:7411/pipelines`,
      ]),
    )
    .action((options: ServeOptions) => serve(io, options));
}

async function serve(io: Io, { host, port, token: given, maxRuns, resumeRuns, json }: ServeOptions): Promise<void> {
  const [{ startServer }, { project, store }, script, style] = await Promise.all([
    import('../../src/server/server.js'),
    projectStore(io),
    builtFile('serve.js'),
    builtFile('serve.css'),
  ]);
  // Stages are commands of whoever sends a pipeline: the token is not theirs to know.
  const { [TOKEN_VARIABLE]: known, ...environment } = io.environment;
  const token = given ?? known;
  const server = await startServer({
    project,
    store,
    host,
    port,
    ...(token === undefined ? {} : { token }),
    page: { script, style },
    runsMax: maxRuns,
    resumesRuns: resumeRuns === true,
    workingDirectory: io.workingDirectory,
    environment,
    clock: { nowMs: io.todayMs, monotonicMs: io.nowMs },
    log: (line) => io.stderr(`${line}\n`),
  });
  // Whoever reads the address may end the server with the next breath.
  const ended = new Promise<void>((resolve) => {
    const stopListening = io.onSignal((_, stray) => {
      if (stray) {
        const [error] = stray;
        // The runs of all others go on.
        io.stderr(`warning: code failed where nothing waited for it: ${error instanceof Error ? error.message : String(error)}\n`);
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

function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`a whole number from ${min} to ${max} is expected`);
  };
}

/** The page lies beside the program. */
function builtFile(name: string): Promise<string> {
  return fs.readFile(new URL(name, import.meta.url), 'utf8');
}
