/** Runs the built command in a process of its own, as a user would. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../dist/mlld.cjs', import.meta.url));

export interface CliOptions {
  readonly cwd: string;
  readonly env?: { readonly [name: string]: string };
  /** Standard input; without it there is none. */
  readonly stdin?: string;
}

export interface CliResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Undefined when a signal ended it. */
  readonly status: number | undefined;
}

export type CliProcess = ChildProcessByStdio<Writable, Readable, Readable>;

/** `HOME` is the working directory unless `env` says otherwise; nothing else of the surroundings but `PATH` gets in. */
export function environmentOf({ cwd, env }: CliOptions): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: cwd, XDG_CACHE_HOME: cacheFolder(), ...env };
}

export function startCli(argv: readonly string[], options: CliOptions): CliProcess {
  return spawn(process.execPath, [PROGRAM, ...argv], {
    cwd: options.cwd,
    env: environmentOf(options),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

export async function runCli(argv: readonly string[], options: CliOptions): Promise<CliResult> {
  const child = startCli(argv, options);
  child.stdin.on('error', () => undefined); // a program that doesn't read its input
  child.stdin.end(options.stdin ?? '');
  return resultOf(child);
}

/** Returns what a run wrote to standard error without its last lines about its calls. */
export function withoutSummary(stderr: string): string {
  return stderr.replace(/^(?:\d+ calls?[:,] |nothing was recorded; ).*\n/gm, '');
}

/** A line of `sh` in which `"$@"` is the command. */
export async function inShell(line: string, cwd: string): Promise<CliResult> {
  const child = spawn('sh', ['-c', line, 'sh', process.execPath, PROGRAM], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: cwd, XDG_CACHE_HOME: cacheFolder() },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end();
  return resultOf(child);
}

export async function resultOf(child: CliProcess): Promise<CliResult> {
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const status = await new Promise<number | undefined>((resolve) => child.on('close', (code) => resolve(code ?? undefined)));
  return { stdout: stdout(), stderr: stderr(), status };
}

function collect(stream: Readable): () => string {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('utf8');
}

/** Shared by all tests, so that not every process compiles the program anew. */
function cacheFolder(): string {
  return path.join(process.env['MLLD_TEST_SCRATCH'] ?? os.tmpdir(), 'mlld-test-cache');
}

/** A fresh folder; its path has no links in it. */
export async function emptyFolder(): Promise<string> {
  return fs.realpath(await fs.mkdtemp(path.join(os.tmpdir(), 'mlld-cli-')));
}

/** A fresh folder with these files in it. */
export async function projectFolder(files: { readonly [name: string]: string } = {}): Promise<string> {
  const folder = await emptyFolder();
  for (const [name, text] of Object.entries({ 'mlld-config.json': '{}', ...files })) {
    await fs.mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await fs.writeFile(path.join(folder, name), text);
  }
  return folder;
}
