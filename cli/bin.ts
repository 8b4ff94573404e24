#!/usr/bin/env node
/**
 * Starts the command `mlld`: prints `--version` before anything is loaded, and loads the program through V8's code cache, which
 * saves compiling it at every start.
 *
 * START-1 a cache that is missing, stale, refused by V8, unreadable or unwritable changes nothing but the time it takes to start.
 * START-2 a cache is written when a command has succeeded, so that it holds the functions that this kind of command really needs: one that
 *    failed early would leave a poor one behind for good. Kinds have caches of their own: a script that read the cache of a pipeline took a
 *    quarter longer to start.
 * START-3 a cache is replaced by rename: a process that reads it at the same moment sees a whole one.
 * START-4 the flags of V8 are the same whenever a part of the program is compiled, read from a cache or put there: V8 refuses a cache that
 *    was made under other flags. A run changes some, so they are set back for that time.
 * START-5 all parts are opened at the start: a run of hours that asks for one late reads that of its own version, whatever was installed
 *    in its place meanwhile.
 * START-6 modules of Node are loaded under V8's own flags: Node carries their compiled code, which V8 refuses under other flags. To compile
 *    them anew takes two to three times as long.
 */
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import vm from 'node:vm';
import { makeFolders } from '../journal/storage/make-folders.js';
import { COMPLETE, isParsedCommand } from './command-table/command-names.js';
import { EXIT_AFTER_SIGNAL, EXIT_FAILED } from './exit-codes.js';
import { tuneV8, type FlagSwitch } from './v8-flags.js';
import { writeAll } from './terminal/write-all.js';

declare const MLLD_VERSION: string;
/** Names of the files that are loaded through a cache; program-parts.mjs. */
declare const MLLD_PARTS: readonly string[];

const [STDOUT, STDERR] = [1, 2];
/** Length of the stamp before the data in a cache file; a multiple of eight keeps the data aligned. */
const STAMP_BYTES = 128;
/** The files of pipelines and of workflow scripts. */
const OTHER_PROGRAM = /\.(dot|m?js)$/;
const RECORDS = /^--(checkpoint|resume|fresh|new|fork)(=|$)/;

/** Node has loaded these before a program begins, or this file has, so that no flag needs to be set; `process` is quickly loaded. */
const LOADED_MODULES = 'buffer events fs module path process stream string_decoder timers url util v8 vm'.split(' ');

type Exports = Record<string, unknown>;
type Wrapped = (exports: Exports, require: unknown, module: { exports: Exports }, file: string, folder: string) => void;

function main(): void {
  const words = process.argv.slice(2);
  const [first] = words;
  if (first === '--version') {
    printVersion();
    return;
  }
  const v8 = require('node:v8') as typeof import('node:v8');
  partLoader(kindOf(words), tuneV8(v8, process))('./cli.cjs');
}

/** Not through the streams of Node: they end a program whose reader went away with a stack trace. */
function printVersion(): void {
  try {
    writeAll(STDOUT, `${MLLD_VERSION}\n`);
  } catch (error) {
    const isClosed = (error as NodeJS.ErrnoException).code === 'EPIPE';
    if (!isClosed) writeAll(STDERR, `Error: Standard output can't be written: ${(error as Error).message}\n`);
    process.exitCode = isClosed ? EXIT_AFTER_SIGNAL.SIGPIPE : EXIT_FAILED;
  }
}

/** Commands of one kind need the same parts of the program, and the same functions of these. */
function kindOf(words: readonly string[]): string {
  const [first, ...rest] = words;
  if (first === COMPLETE || isParsedCommand(first)) return first.replace(/^-+/, '');
  if (first === 'run' && rest.length === 0) return 'scripts';
  const [file = ''] = first === 'run' ? rest : words;
  const kind = words.some((word) => RECORDS.test(word)) ? 'record' : 'run';
  const [, extension] = OTHER_PROGRAM.exec(file) ?? [];
  return extension === undefined ? kind : `${kind}-${extension}`;
}

/** Returns the `require` of the program, which loads each part of it once, through the cache of the kind of command. */
function partLoader(kind: string, flags: FlagSwitch): (name: string) => unknown {
  const plain = createRequire(__filename);
  const loadedModules = new Set(LOADED_MODULES);
  const nodeModule = (name: string): unknown => {
    const bare = name.replace(/^node:/, ''); // packages leave it out
    if (loadedModules.has(bare)) return plain(name);
    loadedModules.add(bare);
    return flags.ofNode(() => plain(name) as unknown); // START-6
  };
  const opened = new Map(MLLD_PARTS.map((part) => [`./${part}`, openPart(path.join(__dirname, part))])); // START-5
  const parts = new Map<string, { exports: Exports }>();
  const load = (name: string): unknown => {
    const loaded = parts.get(name);
    if (loaded) return loaded.exports;
    const part = opened.get(name);
    if (!part) return nodeModule(name);
    const wrapped = compile(part, kind, flags);
    const module = { exports: {} };
    parts.set(name, module); // before it runs: parts ask each other for modules
    wrapped(module.exports, partRequire, module, part.file, __dirname);
    return module.exports;
  };
  const partRequire = Object.assign(load, plain);
  return partRequire;
}

interface Part {
  readonly file: string;
  /** Undefined for a file that can't be opened; it is looked for again when it is asked for. */
  readonly descriptor: number | undefined;
}

function openPart(file: string): Part {
  try {
    return { file, descriptor: fs.openSync(file, 'r') };
  } catch {
    return { file, descriptor: undefined };
  }
}

function compile({ file, descriptor = fs.openSync(file, 'r') }: Part, kind: string, flags: FlagSwitch): Wrapped {
  const { mtimeMs, size } = fs.fstatSync(descriptor);
  // V8 itself compares only the length of the source.
  const stamp = `mlld ${process.version} ${process.arch} ${size} ${mtimeMs}`.padEnd(STAMP_BYTES);
  const cacheFile = cacheFileFor(file, kind);
  const cachedData = cacheFile === undefined ? undefined : readCache(cacheFile, stamp);
  // The build sees to it that it is ASCII, and an expression whose value is the function that Node puts around a module.
  const source = fs.readFileSync(descriptor, 'latin1');
  fs.closeSync(descriptor);
  const script = flags.ofStart(() => new vm.Script(source, { filename: file, ...(cachedData ? { cachedData } : {}) }));
  if (cacheFile !== undefined && (cachedData === undefined || script.cachedDataRejected)) {
    process.on('exit', (status) => {
      if (status !== 0) return;
      const data = flags.ofStart(() => script.createCachedData());
      writeCache(cacheFile, stamp, data);
    });
  }
  return script.runInThisContext() as Wrapped;
}

function cacheFileFor(file: string, kind: string): string | undefined {
  const { XDG_CACHE_HOME: xdg, HOME: home } = process.env;
  const base = xdg && path.isAbsolute(xdg) ? xdg : home && path.isAbsolute(home) ? path.join(home, '.cache') : undefined;
  // Named after the place of the program, so that a new build replaces the cache of the old one.
  return base && path.join(base, 'mlld', `${file.replaceAll(/[^A-Za-z0-9]+/g, '-').slice(-100)}-${kind}.cache`);
}

function readCache(cacheFile: string, stamp: string): Buffer | undefined {
  try {
    const content = fs.readFileSync(cacheFile);
    return content.subarray(0, STAMP_BYTES).toString('latin1') === stamp ? content.subarray(STAMP_BYTES) : undefined;
  } catch {
    return undefined;
  }
}

function writeCache(cacheFile: string, stamp: string, data: Buffer): void {
  const temporary = `${cacheFile}.${process.pid}`;
  try {
    makeFolders(path.dirname(cacheFile), 0o700);
    fs.writeFileSync(temporary, Buffer.concat([Buffer.from(stamp, 'latin1'), data]), { mode: 0o600 });
    fs.renameSync(temporary, cacheFile);
  } catch {
    removeIfPossible(temporary);
  }
}

function removeIfPossible(file: string): void {
  try {
    fs.unlinkSync(file);
  } catch {
    // It was never made.
  }
}

main();
