/**
 * SIGKILL while the history of a conversation is stored, then the same command again, and again.
 *
 * KILL-GROWING-1 the output is that of an undisturbed run
 * KILL-GROWING-2 each kill costs one call at most: the one whose result was not stored yet
 * KILL-GROWING-3 every journal verifies, and the histories take less space than two copies of each per kill; undisturbed, none
 *    is stored twice but for the first turns
 */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

import { projectFolder, type CliResult } from '../support/cli.js';
import { journalFiles, run, runIdOf } from './workflow.js';

const TURNS = 24;

interface Talk {
  readonly start: number;
  readonly growth: number;
  /** A call returns its answer alone, and code puts it behind the history. */
  readonly isAppended?: boolean;
  /** Bytes of the lines and packs of an undisturbed run, and a tenth. */
  readonly storedMax: number;
}

/** Each call writes a line into `calls.log`. With `kill.json`, the process is killed so long after it has returned the n-th result. */
async function talkProject({ start, growth, isAppended = false }: Talk): Promise<string> {
  const words = [
    '  const { createHash } = require("crypto");',
    '  let text = "";',
    '  for (let i = 0; text.length < length; i++) text += createHash("sha256").update(seed + i).digest("base64") + " ";',
  ];
  const script = [
    'exe @words(seed, length) = node {',
    ...words,
    '  return text.slice(0, length);',
    '}',
    'exe llm @turn(history, seed, length) = node {',
    '  const fs = require("fs");',
    '  fs.appendFileSync(process.cwd() + "/calls.log", seed + "\\n");',
    '  const kill = fs.existsSync(process.cwd() + "/kill.json") ? JSON.parse(fs.readFileSync(process.cwd() + "/kill.json", "utf8")) : {};',
    '  if (seed === "turn " + kill.turn) setTimeout(() => process.kill(process.pid, "SIGKILL"), kill.afterMs);',
    ...words,
    `  return ${isAppended ? '' : 'history + '}text.slice(0, length);`,
    '}',
    'exe @append(history, answer) = js { return history + answer; }',
    `var @h0 = @words("start", ${start})`,
    ...Array.from({ length: TURNS }, (_, n) => {
      const turn = `@turn(@h${n}, "turn ${n}", ${growth})`;
      return isAppended ? `var @a${n} = ${turn}\nvar @h${n + 1} = @append(@h${n}, @a${n})` : `var @h${n + 1} = ${turn}`;
    }),
    `show @h${TURNS}`,
  ].join('\n');
  return projectFolder({ 'llm/run/hull.mld': `${script}\n` });
}

const callsMade = (cwd: string): number => readFileSync(path.join(cwd, 'calls.log'), 'utf8').split('\n').length - 1;

async function runKilled(cwd: string, kill: { readonly turn: number; readonly afterMs: number }): Promise<CliResult> {
  const file = path.join(cwd, 'kill.json');
  writeFileSync(file, JSON.stringify(kill));
  const result = await run(cwd);
  rmSync(file);
  return result;
}

it.each([
  ['that are packed because they are long', { start: 90_000, growth: 4000, storedMax: 276_000 }],
  ['that are packed because they continue', { start: 4000, growth: 1000, storedMax: 178_000 }],
  ['whose answers are packed to be repeated', { start: 90_000, growth: 4000, isAppended: true, storedMax: 314_000 }],
  ['that code makes of answers', { start: 6000, growth: 1500, isAppended: true, storedMax: 231_000 }],
])('loses no stored history of texts %s, wherever in the storing of one the process is killed', async (_title, talk) => {
  const calm = await talkProject(talk);
  const undisturbed = await run(calm);
  expect(undisturbed.status).toBe(0);
  expect(undisturbed.stdout.length).toBeGreaterThanOrEqual(talk.start + TURNS * talk.growth); // a blank at the end isn't shown

  const cwd = await talkProject(talk);
  let kills = 0;
  for (const [turn, afterMs] of [1, 5, 6, 12, 13, 20, TURNS - 1].map((each, n) => [each, n % 4] as const)) {
    const { status } = await runKilled(cwd, { turn, afterMs });
    if (status === undefined) kills++;
  }
  const { stdout, status } = await run(cwd);
  expect({ status, isSame: stdout === undisturbed.stdout }).toEqual({ status: 0, isSame: true }); // KILL-GROWING-1
  expect(kills).toBeGreaterThan(2);
  expect(callsMade(cwd)).toBeLessThanOrEqual(TURNS + kills); // KILL-GROWING-2
  for (const file of journalFiles(cwd)) {
    const verified = await run(cwd, ['journal', 'verify', runIdOf(file)]);
    expect(verified, verified.stdout + verified.stderr).toMatchObject({ status: 0 });
  }
  const lines = journalFiles(calm).reduce((sum, file) => sum + statSync(file).size, 0);
  expect(lines + packBytes(calm)).toBeLessThan(talk.storedMax);
  expect(packBytes(cwd)).toBeLessThan((kills + 1) * 2 * undisturbed.stdout.length);
});

function packBytes(cwd: string): number {
  const folder = path.join(cwd, '.mlld', 'journal', 'blobs', 'packs');
  expect(existsSync(folder)).toBe(true);
  const names = readdirSync(folder).filter((name) => name.endsWith('.pack'));
  return names.reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0);
}
