import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { MARKS, terminalText, visible } from '../../../cli/render/terminal-text.js';
import { projectFolder, runCli } from '../../support/cli.js';

/** Colour, window title, clear screen by a C1 control, return, backspace, delete, the orders of bidirectional text. */
const HOSTILE = '\u001B[31mred\u001B]0;owned\u0007\u009B2Jgone\rback\b\u007F\u202Eleft\u2066\u0085end';
/** The part of it that is possible in a file name and in a word of the command line. */
const HOSTILE_NAME = 'bad\u001B[31m\u001B]0;x\u0007\u009B2J\r\b\u202E';
/** A line that says nothing to a terminal but text. */
const HARMLESS = /^(?:[^\u0000-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]|\t|\r?\n)*$/;

const PROGRAM = fileURLToPath(new URL('../../../dist/mlld.cjs', import.meta.url));
const hasTerminals = spawnSync('script', ['--version']).status === 0;

const SCRIPT = `exe llm @ask(q) = js { return { said: ${JSON.stringify(HOSTILE)}, q }; }
exe llm @fail(q) = js { throw new Error(${JSON.stringify(HOSTILE)}); }
exe @helper(q) = js { return q + ${JSON.stringify(HOSTILE)}; }
var @bad = @helper("start")
checkpoint \`at @bad\`
var @a = @ask(@payload.topic)
show @a.said
log @bad
output @bad to stderr
output @bad to "out\u001B[31m.txt"
run sh { printf '\\033[31mto stderr\\n' >&2 }
var @b = @fail(@bad)
show @b
bail \`stopped: @bad\`
`;

const PIPELINE = `digraph tide {
  graph [goal="${HOSTILE.replaceAll('\r', '')}"]
  start [shape=Mdiamond]
  ask [label="ask\u001B[31m\u009B2J", prompt="go\u001B[2J"]
  gate [shape=hexagon, label="Open\u001B]0;x\u0007?"]
  tool [shape=parallelogram, tool_command="printf '\\\\033[31mno\\\\n' >&2; exit 3", max_retries=0]
  exit [shape=Msquare]
  start -> ask -> gate
  gate -> tool [label="[Y] yes\u001B[31m"]
  gate -> ask [label="[N] no\u009B2J"]
  tool -> exit
}
`;

let cwd: string;
const SCRIPT_FILE = `${HOSTILE_NAME}.mld`;

beforeAll(async () => {
  cwd = await projectFolder({ [SCRIPT_FILE]: SCRIPT, [`${HOSTILE_NAME}.dot`]: PIPELINE, 'ok.mld': 'show "fine"\n' });
  await runCli([SCRIPT_FILE, '--checkpoint', '--topic', HOSTILE], { cwd });
  await runCli([SCRIPT_FILE, '--checkpoint', '--topic', `other${HOSTILE}`], { cwd });
  await runCli(['run', `${HOSTILE_NAME}.dot`, '--yes'], { cwd });
  await runCli(['journal', 'bundle', 'latest', '-o', 'run.tgz'], { cwd });
}, 60_000);

describe('no control character of a text reaches a terminal', () => {
  it.each([
    ['the list', 'journal list'],
    ['the list as JSON', 'journal list --json'],
    ['the events', 'journal show SCRIPT'],
    ['the events as JSON', 'journal show SCRIPT --json'],
    ['a verification', 'journal verify SCRIPT'],
    ['an explanation', 'journal explain SCRIPT'],
    ['an audit', 'journal audit SCRIPT'],
    ['a post-mortem', 'journal postmortem SCRIPT'],
    ['a comparison', 'journal diff SCRIPT@2 SCRIPT@1'],
    ['a replay as JSON', 'journal replay SCRIPT --json'],
    ['what would be collected', 'journal gc --dry-run --keep 1'],
    ['an export as CSV', 'journal export SCRIPT --format csv'],
    ['an export as events', 'journal export SCRIPT --format ndjson'],
    ['an export of spans', 'journal export SCRIPT --format otlp-json'],
    ['a trace', 'journal export SCRIPT --format chrome-trace'],
    ['the candidates of a resume', 'SCRIPT --checkpoint --resume nope'],
    ['a resume by a hostile name', 'SCRIPT --checkpoint --resume HOSTILE'],
    ['a plan', 'SCRIPT --checkpoint --plan'],
    ['the entries of a checkpoint', 'checkpoint list SCRIPT'],
    ['a script that is not there', 'run HOSTILE'],
    ['a file that is not there', 'HOSTILEx.mld'],
    ['a run that is not there', 'journal show HOSTILE'],
    ['a command that is not there', 'journal HOSTILE'],
    ['an option that is not there', 'journal list --HOSTILE'],
    ['help for what is not there', 'help HOSTILE'],
    ['an answer to nobody', 'answer HOSTILEx HOSTILE'],
    ['a validation', 'validate SCRIPT'],
    ['a validation of the folder', 'validate . --verbose'],
    ['a validation of a pipeline', 'validate PIPELINE'],
    ['a pipeline that fails', 'run PIPELINE --yes'],
    ['the questions of a pipeline', 'run PIPELINE', 'y\n'],
    ['a post-mortem of a pipeline', 'journal postmortem PIPELINE'],
    ['a bundle taken in', 'journal unbundle run.tgz'],
  ])('%s', async (_, line, stdin = '') => {
    const argv = line.split(' ').map((word) =>
      word
        .replace('SCRIPT', word === 'SCRIPT' && /^(?:checkpoint|validate|SCRIPT)/.test(line) ? SCRIPT_FILE : HOSTILE_NAME)
        .replace('PIPELINE', `${HOSTILE_NAME}.dot`)
        .replace('HOSTILE', HOSTILE_NAME),
    );
    const { stdout, stderr } = await runCli(argv, { cwd, stdin });
    expect(stdout + stderr).toMatch(/u001b/i); // it was there to be shown
    expect(stdout).toMatch(HARMLESS);
    expect(stderr).toMatch(HARMLESS);
  });

  it('in a picture, which has no place for them', async () => {
    const { stdout } = await runCli(['graph', 'render', `${HOSTILE_NAME}.dot`, '-o', '-'], { cwd });
    expect(stdout).toContain('>ask[31m2J<');
    expect(stdout).toMatch(HARMLESS);
  });

  it('in a run, except from a script into a pipe: that is data', async () => {
    for (const argv of [
      [SCRIPT_FILE, '--topic', HOSTILE],
      ['journal', 'replay', HOSTILE_NAME],
    ]) {
      const { stdout, stderr } = await runCli(argv, { cwd });
      expect(stdout).toBe(`${HOSTILE}\n`);
      expect(stderr).toContain('\\u001b[31mto stderr');
      expect(stderr).toMatch(HARMLESS);
    }
  });

  it('places the caret below what is meant', async () => {
    const { stderr } = await runCli(['-e', 'var @t = "\u001B[31mhigh" show @@'], { cwd });
    const [, quoted = '', caret = ''] = /^(.* \| var @t.*)\n(.*\^)$/m.exec(stderr) ?? [];
    expect(quoted).toContain('"\\u001b[31mhigh" show');
    expect(quoted.slice(caret.indexOf('^'))).toMatch(/^show/);
  });

  it('writes the texts of a JSON report so that they are read back unchanged', async () => {
    const { stdout } = await runCli(['journal', 'list', '--json'], { cwd });
    const [latest] = JSON.parse(stdout) as readonly { readonly workflow: string }[];
    expect(latest?.workflow).toBe(`${HOSTILE_NAME}.dot`);
  });
});

describe.runIf(hasTerminals)('on a terminal', () => {
  it('what a script shows is as harmless as a report', async () => {
    const shown = onTerminal(`-e 'exe @ask() = js { return ${JSON.stringify(HOSTILE)} }\nshow @ask()'`);
    expect(shown).toContain('\\u001b]0;owned');
    expect(shown).toMatch(HARMLESS);
  });

  it('a report has no escape sequences but colours of ours', async () => {
    const shown = onTerminal('journal list');
    expect(shown).toContain('\\u001b]0;x');
    expect(shown).toContain('\u001B[31mfailed\u001B[39m');
    expect(shown.replaceAll(/\u001B\[(?:1|2|22|31|32|33|39)m/g, '')).toMatch(HARMLESS);
  });

  function onTerminal(words: string): string {
    const { stdout } = spawnSync('script', ['-qec', `stty cols 200; ${process.execPath} ${PROGRAM} ${words}`, '/dev/null'], {
      cwd,
      env: { PATH: process.env['PATH'] ?? '', HOME: cwd, TERM: 'xterm' },
      encoding: 'utf8',
    });
    return stdout;
  }
});

describe('text made visible', () => {
  it('means the same in JSON', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = visible(JSON.stringify({ text }));
        expect(shown).toMatch(HARMLESS);
        expect(JSON.parse(shown)).toEqual({ text });
      }),
    );
  });

  it('leaves line ends, tabs and what is written in any language', () => {
    const text = 'a\tb\r\nc\nприлив 潮 🌊 é \u200D مد';
    expect(visible(text)).toBe(text);
    expect(terminalText(`${MARKS.red}${text}${MARKS.colourEnd}`, { colours: true })).toBe(`\u001B[31m${text}\u001B[39m`);
  });
});
