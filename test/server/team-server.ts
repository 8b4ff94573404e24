/** The server inside the process of a test, over a store that the test fills. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { JournalStore } from '../../journal/store.js';
import { startServer, type AccessToken, type PipelineServer } from '../../src/server/server.js';
import { PROJECT } from '../support/source-files.js';

interface TeamServerOptions {
  readonly store: JournalStore;
  readonly folder: string;
  readonly tokens?: readonly AccessToken[];
  readonly log?: (line: string) => void;
}

export function serveTeam({ store, folder, tokens = [], log = () => undefined }: TeamServerOptions): Promise<PipelineServer> {
  const built = (name: string): string => readFileSync(path.join(PROJECT, 'dist', name), 'utf8');
  return startServer({
    project: { root: folder, config: { scriptDir: 'llm/run' } } as Parameters<typeof startServer>[0]['project'],
    store,
    host: '127.0.0.1',
    port: 0,
    tokens,
    page: { script: built('serve.js'), style: built('serve.css') },
    stepsOf: () => [],
    runsMax: 1,
    workingDirectory: folder,
    environment: {},
    clock: { nowMs: Date.now, monotonicMs: () => performance.now() },
    log,
  });
}
