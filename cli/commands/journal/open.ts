/**
 * `mlld journal open [RUN]`: serves the page of a run on this machine until Ctrl-C, and opens a browser. The page follows a run that is
 * still running.
 */
import type { RunFile } from '../../../journal/store.js';
import { resolveRun } from '../../../src/api/recorded-runs.js';
import { runFile } from '../../../src/api/run-target.js';
import { openBrowser } from '../../terminal/open-browser.js';
import type { Io } from '../../terminal/io.js';
import { openProject } from '../open-project.js';
import { servePage } from '../serve.js';
import { pageOf } from './report.js';

/** The times on the page of a run that records nothing, because its calls take long, are not older than this. */
const STALE_MS = 10_000;

interface OpenOptions {
  readonly browser: boolean;
  readonly diff?: string;
}

export async function open(io: Io, text: string | undefined, { browser, diff }: OpenOptions): Promise<void> {
  const { project, store } = await openProject(io);
  const run = await resolveRun(store, project, text ?? 'latest');
  const other = diff === undefined ? undefined : await resolveRun(store, project, diff);
  const current = (): Promise<RunFile> => runFile(store, run.ref);
  const server = await servePage(
    {
      async version() {
        const { bytes, liveness } = await current();
        return liveness === 'running' ? `${bytes}-${Math.floor(io.nowMs() / STALE_MS)}` : `${bytes}-${liveness}`;
      },
      async page(version) {
        const file = await current();
        return pageOf(io, store, file, { other, version: file.liveness === 'running' ? version : undefined });
      },
    },
    (line) => io.stderr(`${line}\n`),
  );
  // Listens before the address is printed: a program that reads it may end this one at once.
  const ended = new Promise<void>((resolve) => {
    const stopListening = io.onSignal(() => {
      void server.close().then(() => {
        stopListening();
        resolve();
      });
    });
  });
  io.stdout(`${server.url}\n`);
  const isOpen = browser && (await openBrowser(io, server.url));
  const how = isOpen ? '' : browser ? 'no browser could be started, open the address yourself; ' : '';
  io.stderr(`${run.ref.run} of ${run.ref.workflow}; ${how}Ctrl-C ends it\n`);
  await ended;
}
