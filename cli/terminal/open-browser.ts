/** Opens an address in the browser of the user. */
import { spawn } from 'node:child_process';
import { platform } from 'node:os';
import type { Io } from './io.js';

/** The address is one word without signs that a shell reads. */
const OPENERS: { readonly [system: string]: readonly [string, ...string[]] } = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};
const OTHERS: readonly [string, ...string[]] = ['xdg-open'];

/** Resolves to false where no program could be started; a browser that fails later says so itself. */
export function openBrowser({ environment }: Pick<Io, 'environment'>, url: string): Promise<boolean> {
  const [program, ...words] = OPENERS[platform()] ?? OTHERS;
  return new Promise((resolve) => {
    const child = spawn(program, [...words, url], { detached: true, stdio: 'ignore', env: { ...environment } });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
