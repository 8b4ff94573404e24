/** Makes a workflow whose calls leave traces, so that a test knows what ran, what was on disk, and what ran again. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import path from 'node:path';
import { projectFolder, runCli, startCli, type CliProcess, type CliResult } from '../support/cli.js';

export const CALLS_AT_ONCE = 20;
export const RUN = ['run', 'hull', '--checkpoint'];

/** Every call writes its argument into `calls.log` when it starts. Results hold their argument, and have `answerChars` characters. */
export async function hullProject({
  calls,
  delayMs,
  answerChars = 200,
}: {
  calls: number;
  delayMs: number;
  answerChars?: number;
}): Promise<string> {
  const script = [
    'exe @questions(n) = js { return Array.from({ length: Number(n) }, (_, i) => "hull section " + i) }',
    'exe llm @inspect(question) = node {',
    '  const fs = require("fs");',
    '  fs.appendFileSync(process.cwd() + "/calls.log", question + "\\n");',
    '  const begun = fs.readFileSync(process.cwd() + "/calls.log", "utf8").split("\\n").length - 1;',
    '  const end = fs.existsSync(process.cwd() + "/end.json") ? JSON.parse(fs.readFileSync(process.cwd() + "/end.json", "utf8")) : {};',
    '  if (begun === end.begun) setTimeout(() => process.kill(process.pid, "SIGKILL"), end.afterMs);',
    `  await new Promise((resolve) => setTimeout(resolve, ${delayMs} + (question.length * 7 + question.charCodeAt(question.length - 1)) % ${delayMs}));`,
    `  return ("report on " + question + ". ").repeat(${answerChars}).slice(0, ${answerChars});`,
    '}',
    `var @questions_ = @questions(${calls})`,
    `var @reports = for parallel(${CALLS_AT_ONCE}) @question in @questions_ => @inspect(@question)`,
    'show @reports.join("\\n")',
  ].join('\n');
  return projectFolder({ 'llm/run/hull.mld': `${script}\n` });
}

export function run(cwd: string, argv: readonly string[] = RUN): Promise<CliResult> {
  return runCli(argv, { cwd });
}

/**
 * Runs the workflow with SIGKILL coming `afterMs` after that many calls of all runs have begun. The program sends it itself: a test that
 * looks on from outside comes too late on a busy machine.
 */
export async function runKilled(cwd: string, end: { readonly begun: number; readonly afterMs: number }): Promise<CliResult> {
  const file = path.join(cwd, 'end.json');
  writeFileSync(file, JSON.stringify(end));
  const result = await run(cwd);
  rmSync(file);
  return result;
}

/** Starts the workflow and resolves when `begun` calls have begun, or when it has ended before. */
export async function startUntil(cwd: string, begun: number): Promise<CliProcess> {
  const child = startCli(RUN, { cwd });
  child.stdin.end();
  while (child.exitCode === null && callsBegun(cwd).length < begun) await sleep(2);
  return child;
}

/** Returns the arguments of the calls that started, in order, over all runs. */
export function callsBegun(cwd: string): string[] {
  return linesOf(path.join(cwd, 'calls.log'));
}

/** Returns the arguments of calls whose result is in a journal. Reads lines itself: a test must not trust the reader that it tests. */
export function answersOnDisk(cwd: string): Set<string> {
  const completed = journalFiles(cwd)
    .flatMap(eventsOf)
    .filter(({ type }) => type === 'call.completed');
  return new Set(completed.map(({ result }) => /hull section \d+/.exec(result?.inline ?? '')?.[0] ?? 'unreadable'));
}

export interface RawEvent {
  readonly type: string;
  readonly op?: string;
  readonly status?: string;
  readonly result?: { readonly inline?: string; readonly blob?: string };
}

export function eventsOf(file: string): RawEvent[] {
  const text = readFileSync(file, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1); // what follows is a torn tail
  return whole
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as RawEvent);
}

/** Oldest first: run ids sort by time. */
export function journalFiles(cwd: string): string[] {
  const folder = path.join(cwd, '.mlld', 'journal');
  if (!existsSync(folder)) return [];
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ndjson'));
  return found.sort().map((file) => path.join(folder, file));
}

export function runIdOf(file: string): string {
  return path.basename(file, '.ndjson');
}

export interface ListedRun {
  readonly run: string;
  readonly status: string;
  readonly inFlight: readonly unknown[];
}

/** Returns the runs of `journal list --json`, latest first. */
export async function listedRuns(cwd: string): Promise<ListedRun[]> {
  const { stdout } = await run(cwd, ['journal', 'list', '--json']);
  return JSON.parse(stdout) as ListedRun[];
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}
