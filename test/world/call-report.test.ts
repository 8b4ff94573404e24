/** Bodies of each language report about the call around them: js and node through a global, programs through a file. calls.md 9. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ReportFiles } from '../../src/world/process/report-files.js';
import type { CallReport } from '../../src/world/world.js';
import { openWorld } from './support.js';

const { world } = openWorld();
afterAll(() => world.close('the tests are over'));

class Heard implements CallReport {
  readonly reports: unknown[] = [];
  private readonly files = new ReportFiles();
  path: string | undefined;
  usage(members: unknown): void {
    this.reports.push({ usage: { ...(members as object) } });
  }
  fail(failureClass: unknown, message: unknown): never {
    this.reports.push({ fail: failureClass });
    throw new Error(String(message));
  }
  headers(headers: unknown): void {
    this.reports.push({ headers: Object.fromEntries(headers as Iterable<[string, string]>) });
  }
  file(): string {
    return (this.path ??= this.files.create());
  }
  lines(): unknown[] {
    const text = this.path === undefined ? '' : (this.files.take(this.path)?.text ?? '');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as unknown);
  }
}

describe.each(['js', 'node'] as const)('a %s body', (language) => {
  const run = (code: string, report?: CallReport, variables: Record<string, unknown> = {}) =>
    world.perform('code.run', { language, code, variables, unset: [], echo: false }, report ? { report } : {});

  it('reports usage, headers and a failure', async () => {
    const report = new Heard();
    const failing = run(
      'mlld.usage({ inputTokens: 3 }); mlld.headers(new Headers({ A: "1" })); mlld.fail("quota", "no money left"); return 1',
      report,
    );
    await expect(failing).rejects.toThrow('no money left');
    expect(report.reports).toEqual([{ usage: { inputTokens: 3 } }, { headers: { a: '1' } }, { fail: 'quota' }]);
  });

  it('does nothing with them outside of a call', async () => {
    expect((await run('mlld.usage({ costUsd: 3 }); mlld.headers({}); mlld.fail("quota", "x"); return 1')).value).toBe(1);
  });

  it('does not see the object where a parameter has its name', async () => {
    expect((await run('return mlld', new Heard(), { mlld: 'high' })).value).toBe('high');
  });
});

describe('a program', () => {
  const run = (language: 'cmd' | 'sh' | 'bash' | 'py', code: string, report?: CallReport, variables: Record<string, string> = {}) =>
    world.perform('command.run', { language, code, directory: tmpdir(), variables }, report ? { report } : {});

  it.each(['cmd', 'sh', 'bash'] as const)('reports in the file that its environment names (%s)', async (language) => {
    const report = new Heard();
    const { stdout } = await run(
      language,
      `sh -c 'echo "{\\"usage\\":{\\"inputTokens\\":3}}" >> "$MLLD_CALL_REPORT"'; cat "$MLLD_CALL_REPORT"`,
      report,
    );
    expect(stdout).toBe('{"usage":{"inputTokens":3}}\n');
    expect(report.lines()).toEqual([{ usage: { inputTokens: 3 } }]);
    expect(existsSync(report.path ?? '')).toBe(false);
  });

  it('has no such file outside of a call', async () => {
    expect((await run('sh', 'echo "[$MLLD_CALL_REPORT]"')).stdout).toBe('[]\n');
  });

  it('reports what JSON has no number for as a text, so that the rest of the line counts', async () => {
    const report = new Heard();
    await run('py', 'mlld.usage(input_tokens=9, cost_usd=float("nan"))\nmlld.fail("quota", "spent", resets_at=float("inf"))', report);
    expect(report.lines()).toEqual([
      { usage: { inputTokens: 9, costUsd: 'nan' } },
      { fail: { class: 'quota', message: 'spent', resetsAt: 'inf' } },
    ]);
  });

  it('reports with the words of Python', async () => {
    const report = new Heard();
    const code = [
      'mlld.usage(model="own-1", input_tokens=9, cost_usd=0.01, output_tokens=None)',
      'mlld.headers({"Retry-After": 3})',
      'mlld.fail("rate-limit", "slow down", retry_after_ms=20, resets_at=5)',
    ].join('\n');
    const { exitCode, stderr } = await run('py', code, report);
    expect([exitCode, stderr.trimEnd().split('\n').at(-1)]).toEqual([1, 'CallFailed: rate-limit: slow down']);
    expect(report.lines()).toEqual([
      { usage: { model: 'own-1', inputTokens: 9, costUsd: 0.01 } },
      { headers: { 'Retry-After': '3' } },
      { fail: { class: 'rate-limit', message: 'slow down', retryAfterMs: 20, resetsAt: 5 } },
    ]);
  });

  it('does nothing with them in Python outside of a call, and sees a parameter of that name', async () => {
    const { exitCode, stdout } = await run('py', 'mlld.usage(cost_usd=3)\nmlld.fail("quota", "x")\nprint(1)');
    expect([exitCode, stdout]).toEqual([0, '1\n']);
    expect((await run('py', 'print(mlld)', new Heard(), { mlld: 'high' })).stdout).toBe('high\n');
  });
});

describe('report files', () => {
  it('of processes that have ended are removed when the first one is made', () => {
    const stale = path.join(tmpdir(), 'mlld-call-999999999-tide.jsonl');
    writeFileSync(stale, '{"usage":{}}\n');
    const files = new ReportFiles();
    const file = files.create();
    expect(existsSync(stale)).toBe(false);
    expect([readFileSync(file, 'utf8'), files.take(file)]).toEqual(['', { text: '' }]);
    expect(readdirSync(tmpdir())).not.toContain(path.basename(file));
  });

  it('that were removed have no contents', () => {
    const files = new ReportFiles();
    const file = files.create();
    expect(files.take(file)).toEqual({ text: '' });
    expect(files.take(file)).toBeUndefined();
  });

  it('that hold too much have their last lines, none of them cut', () => {
    const files = new ReportFiles();
    const file = files.create();
    const last = '{"fail":{"class":"quota","message":"spent"}}\n';
    writeFileSync(file, `${'x'.repeat(2 << 20)}\n${last}`);
    expect(files.take(file)).toEqual({ text: last, isCut: true });
    const oneLine = files.create();
    writeFileSync(oneLine, 'x'.repeat(2 << 20));
    expect(files.take(oneLine)).toEqual({ text: '', isCut: true });
    expect(existsSync(file) || existsSync(oneLine)).toBe(false);
  });

  it.each([
    ['folder', (file: string) => void mkdirSync(path.join(file, 'inside'), { recursive: true })],
    ['pipe', (file: string) => void execFileSync('/bin/sh', ['-c', 'mkfifo "$0"', file])],
    ['link', (file: string) => symlinkSync('/etc/hosts', file)],
  ])('in whose place a program put a %s have no contents, and are removed', (_, put) => {
    const files = new ReportFiles();
    const file = files.create();
    rmSync(file);
    put(file);
    expect(files.take(file)).toBeUndefined();
    expect(readdirSync(tmpdir())).not.toContain(path.basename(file));
  });
});
