// Starts the loopback provider of a case, and ends it by its process.

import { spawn } from 'node:child_process';
import { availableParallelism, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';

const PROVIDER = fileURLToPath(new URL('./stubs/provider.mjs', import.meta.url));

/** A request must take longer than what else a busy machine does between two of them, else a limit of concurrency is hardly met. */
const SLOWER_MAX = 8;

/** The same limits for a machine on which everything takes longer: with a limit of concurrency, its requests do, too. */
function scaledToMachine(config) {
  if (config.concurrency === undefined || config.latencyMs === undefined) return config;
  const [meanMs, spread] = config.latencyMs;
  const slower = Math.min(SLOWER_MAX, Math.max(1, loadavg()[0] / availableParallelism()));
  return { ...config, latencyMs: [Math.round(meanMs * slower), spread] };
}

/** @returns {Promise<{ url: string, stats: () => Promise<object>, stop: () => Promise<void> }>} */
export async function startProvider(config, ledger) {
  const child = spawn(process.execPath, [PROVIDER, '--config', JSON.stringify(scaledToMachine(config)), '--ledger', ledger], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.on('close', resolve));
  const port = await new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      const found = /PORT (\d+)/.exec(String(chunk));
      if (found) resolve(found[1]);
    });
    child.on('error', reject);
    void ended.then(() => reject(new Error('the provider ended before it listened')));
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    stats: async () => (await fetch(`${url}/stats`)).json(),
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
