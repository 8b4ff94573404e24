import fs from 'node:fs/promises';
import path from 'node:path';
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ReportData } from '../../../replay/reports/timeline/report.js';
import { projectFolder, runCli } from '../../support/cli.js';
import { recordCrash, recordRun } from '../../support/recorded-project.js';
import { call, loop, runRef } from '../../support/written-runs.js';

const ATTACK = '</script><script>alert(1)</script>';

async function project(): Promise<string> {
  const cwd = await projectFolder();
  await recordRun(
    cwd,
    1,
    loop('main/for#0', ['ebb', ATTACK], (item, at) => call(`${at}/ask#0`, item)),
    call('main/ask#0', 'flow', { outcome: 'failed' }),
  );
  return cwd;
}

describe('mlld journal report', () => {
  it('makes one page that may run nothing but its viewer', async () => {
    const cwd = await project();
    expect(await runCli(['journal', 'report', 'job', '-o', 'r.html'], { cwd })).toMatchObject({ status: 0, stdout: '', stderr: '' });
    const page = await fs.readFile(path.join(cwd, 'r.html'), 'utf8');
    expect(page).not.toContain(ATTACK);
    // Names of namespaces, by which a browser tells SVG from HTML, are no addresses.
    const named = page.replaceAll(/http:\/\/www\.w3\.org\/(?:2000\/svg|1999\/xhtml|1998\/Math\/MathML)\b/g, '');
    expect(named).not.toMatch(/\bsrc=|\bhref=|https?:\/\//);
    const scripts = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text]) => text as string);
    expect(scripts).toHaveLength(1);
    const digest = createHash('sha256')
      .update(scripts[0] as string)
      .digest('base64');
    expect(page).toContain(`default-src 'none'; script-src 'sha256-${digest}'; style-src 'sha256-`);
    expect(page).not.toContain('unsafe');
  });

  it('prints numbers and spans as JSON', async () => {
    const cwd = await project();
    const { stdout } = await runCli(['journal', 'report', 'job', '--json'], { cwd });
    const data = JSON.parse(stdout) as ReportData;
    expect(data).toMatchObject({
      run: runRef(1).run,
      status: 'completed',
      total: { executed: 2, failed: 1 },
      functions: [{ name: 'ask', executed: 2, failed: 1 }],
    });
    expect(data.spans.op).toHaveLength(6);
    expect(data.spans.parent).toEqual([-1, 0, 1, 0, 3, -1]);
  });

  it('tells of a run that crashed, and refuses one that is not there', async () => {
    const cwd = await project();
    await recordCrash(cwd, 2, call('main/ask#0', 'slack', { outcome: 'killed' }));
    const { stdout } = await runCli(['journal', 'report', 'job', '--json'], { cwd });
    expect(JSON.parse(stdout)).toMatchObject({ status: 'crashed', spans: { state: [6] } });
    expect(await runCli(['journal', 'report', 'nothing', '-o', 'r.html'], { cwd })).toMatchObject({ status: 1 });
  });
});
