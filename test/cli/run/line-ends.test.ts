/** A project that was checked out with CRLF is the same project. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectFolder, runCli, type CliResult, withoutSummary } from '../../support/cli.js';

const SOURCES = {
  'job.mld': `import { @lib } from "./lib.mld"
exe @letter(name) = template "./letter.att"
exe llm @ask(q) = sh { printf '%s' "$q" | od -c | head -3 }
exe @code(x) = sh {
  cat <<END
two $x
lines
END
}
show @ask(\`in backticks
two lines\`)
show @ask(::
in colons
two lines
::)
show @ask(@lib)
show @ask(@letter("Oban"))
show @ask(@code("code"))
`,
  'lib.mld': 'var @lib = `from a module\ntwo lines`\nexport { @lib }\n',
  'letter.att': 'Dear @name,\nregards\n',
  'page.md': 'text\n\n```mlld-run\nvar @x = `a\nb`\nshow @x\n```\n',
} as const;

const withCrlf = (text: string): string => text.replaceAll('\n', '\r\n');

function rewrite(cwd: string, change: (text: string) => string): void {
  for (const [name, text] of Object.entries(SOURCES)) fs.writeFileSync(path.join(cwd, name), change(text));
}

describe('sources with CRLF', () => {
  it('make the same calls as with LF: nothing is paid for twice', async () => {
    const cwd = await projectFolder(SOURCES);
    const before = await runCli(['job.mld', '--checkpoint'], { cwd });
    expect([before.status, withoutSummary(before.stderr)]).toEqual([0, '']);
    rewrite(cwd, withCrlf);
    const after = await runCli(['job.mld', '--checkpoint'], { cwd });
    expect({ ...after, stderr: withoutSummary(after.stderr) }).toEqual({ ...before, stderr: '' });
    const { stdout } = await runCli(['journal', 'list', 'job', '--json'], { cwd });
    expect(JSON.parse(stdout)).toMatchObject([
      { executed: 0, reused: 5 },
      { executed: 5, reused: 0 },
    ]);
    expect((await runCli(['journal', 'replay', 'latest', '--current'], { cwd })).status).toBe(0);
  });

  it('mean the same in markdown and inline', async () => {
    const cwd = await projectFolder(SOURCES);
    const page = await runCli(['page.md', '--md'], { cwd });
    rewrite(cwd, withCrlf);
    expect(await runCli(['page.md', '--md'], { cwd })).toEqual(page);
    const code = 'show `a\nb`.length';
    expect((await runCli(['-e', withCrlf(code)], { cwd })).stdout).toBe((await runCli(['-e', code], { cwd })).stdout);
  });

  it('have their mistakes at the same places', async () => {
    const broken = 'var @text = `two\nlines`\n\n  show @text.gone()\nshwo @text\n';
    const cwd = await projectFolder({ 'broken.mld': broken });
    const places = async (): Promise<CliResult[]> => [
      await runCli(['validate', 'broken.mld', '--json'], { cwd }),
      await runCli(['broken.mld'], { cwd }),
    ];
    const before = await places();
    fs.writeFileSync(path.join(cwd, 'broken.mld'), withCrlf(broken));
    expect(await places()).toEqual(before);
    expect(before[1]?.stderr).toContain('broken.mld:5:1');
  });

  it('leave the line ends of what they load alone', async () => {
    const cwd = await projectFolder({ 'notes.txt': 'a\r\nb', 'load.mld': 'show <./notes.txt>.length\r\n' });
    expect((await runCli(['load.mld'], { cwd })).stdout).toBe('4\n');
  });
});
