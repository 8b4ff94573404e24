// Reads the traces of a step on disk: the events that it appended and the checkpoint of its newest graph run.

import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** Measures each journal of the folder, so that a later look sees only what is new. @returns {Promise<Map<string, number>>} */
export async function journalSizes(folder) {
  const sizes = new Map();
  for (const file of await journalFiles(folder)) sizes.set(file, (await stat(file)).size);
  return sizes;
}

/** The events appended since `before` was taken, the main run first, then the others by time of start. */
export async function eventsSince(folder, before) {
  const runs = [];
  for (const file of await journalFiles(folder)) {
    const bytes = await readFile(file);
    const events = completeLines(bytes.subarray(before.get(file) ?? 0).toString('utf8'));
    if (events.length > 0) runs.push(events);
  }
  runs.sort((a, b) => startOrder(a).localeCompare(startOrder(b)));
  return runs.flat();
}

function startOrder([first]) {
  const isSecondary = first.restartOf !== undefined || first.parent !== undefined;
  return `${isSecondary ? 1 : 0} ${first.ts}`;
}

/** A torn last line is not an event yet; the journal's own tests say what else must hold. */
function completeLines(text) {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

async function journalFiles(folder) {
  const root = join(folder, '.mlld', 'journal');
  const entries = await readdir(root, { recursive: true }).catch(() => []);
  return entries.filter((entry) => /(^|\/)runs\/[^/]+\.ndjson$/.test(entry)).map((entry) => join(root, entry));
}

/** The lines of a ledger of stub programs. A call that is still being written, or was killed, may have torn the last one. */
export async function ledgerLines(file) {
  const text = await readFile(file, 'utf8').catch(() => '');
  return completeLines(text);
}

/** Reads the calls of the stubs since there were `before` lines: the sums, and the calls in the order in which they began. */
export function ledgerSince(lines, before) {
  const calls = lines.slice(before).filter(({ event }) => event === 'start');
  const ends = new Map(lines.filter(({ event }) => event === 'end').map((line) => [line.n, line]));
  const charged = calls.reduce((sum, { n }) => sum + (ends.get(n)?.chargedUsd ?? 0), 0);
  return {
    count: calls.length,
    prompts: calls.map(({ prompt }) => prompt),
    programs: calls.map(({ program }) => program),
    chargedUsd: Math.round(charged * 1e9) / 1e9,
    maxInFlight: Math.max(0, ...calls.map(({ inFlight }) => inFlight)),
    calls: calls.map(({ n, ...call }) => ({ n, ...call, outcome: ends.get(n)?.outcome, chargedUsd: ends.get(n)?.chargedUsd })),
  };
}

/** The checkpoint.json written last for the graph file that `argv` names, or undefined. */
export async function newestCheckpoint(folder, argv) {
  const found = [];
  for (const run of await runFolders(folder, argv)) {
    const file = join(run, 'checkpoint.json');
    const info = await stat(file, { bigint: true }).catch(() => undefined);
    if (info) found.push({ file, at: info.mtimeNs });
  }
  found.sort((a, b) => (a.at < b.at ? 1 : -1));
  return found[0] && JSON.parse(await readFile(found[0].file, 'utf8'));
}

async function runFolders(folder, argv) {
  const chosen = argv.indexOf('--run-dir');
  if (chosen >= 0) {
    const name = argv[chosen + 1];
    const siblings = await readdir(folder);
    return siblings.filter((entry) => entry === name || entry.startsWith(`${name}.`)).map((entry) => join(folder, entry));
  }
  const script = argv.find((word) => word.endsWith('.dot'));
  const base = join(folder, '.mlld', 'graph', basename(script, '.dot'));
  return (await readdir(base).catch(() => [])).map((entry) => join(base, entry));
}
