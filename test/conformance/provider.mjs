// Starts the loopback provider of a case, and ends it by its process.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROVIDER = fileURLToPath(new URL('./stubs/provider.mjs', import.meta.url));

/** @returns {Promise<{ url: string, stats: () => Promise<object>, stop: () => Promise<void> }>} */
export async function startProvider(config, ledger) {
  const child = spawn(process.execPath, [PROVIDER, '--config', JSON.stringify(config), '--ledger', ledger], {
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
