// Random histories of edits, crashes and every kind of run against the plain model of the rules in `test/histories/`. Exit status 1 on a
// counterexample, which is printed as scripts and commands.   node histories.mjs [--count 2000] [--seed N] [--files 100] [--processes 10]
// --files: how many more against a journal on disk · --processes: how many more with the built command, killed by a signal

import { parseArgs } from 'node:util';

import { importTypescript } from './import-typescript.mjs';

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '2000' },
    files: { type: 'string', default: '100' },
    processes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  },
});
try {
  const { playHistories } = await importTypescript('test/histories/property.ts');
  const seed = Number(options.seed);
  for (const [kind, count] of [
    ['memory', Number(options.count)],
    ['file', Number(options.files)],
    ['command', Number(options.processes)],
  ]) {
    if (count === 0) continue;
    const startedMs = performance.now();
    const { runs, kills, refused, executed, served } = await playHistories({ kind, count, seed });
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    console.log(`${kind}, seed ${seed}: ${count} histories as the rules say, in ${seconds} s`);
    console.log(`  ${runs} commands, ${kills} killed, ${refused} refused; ${executed} calls executed, ${served} reused`);
  }
} catch (error) {
  console.error(error.message);
  if (error.cause) console.error(error.cause.message);
  process.exitCode = 1;
}
// A run that has died here, not with a process of its own, holds this one like any that still waits for its code.
process.exit();
