/** `mlld journal open [RUN]`: serves the page of a run on this machine until Ctrl-C, and opens a browser. */
import { resolveRun } from '../../../src/api/recorded-runs.js';
import { openBrowser } from '../../terminal/open-browser.js';
import type { Io } from '../../terminal/io.js';
import { openProject } from '../open-project.js';
import { servePage } from '../serve.js';
import { pageOf } from './report.js';

interface OpenOptions {
  readonly browser: boolean;
  readonly diff?: string;
}

export async function open(io: Io, text: string | undefined, { browser, diff }: OpenOptions): Promise<void> {
  const { project, store } = await openProject(io);
  const run = await resolveRun(store, project, text ?? 'latest');
  const other = diff === undefined ? undefined : await resolveRun(store, project, diff);
  const server = await servePage(
    () => pageOf(io, store, run, other),
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
