import { describe, expect, it } from 'vitest';
import { MODEL_PROGRAMS } from '../../../src/calls/backends/programs.js';
import { shellWords } from '../../../journal/shell-words.js';
import type { ProgramCall } from '../../../src/calls/backends/program.js';
import { programLane, UNKNOWN } from '../../../src/calls/lanes/program-lane.js';

const EVERYTHING: ProgramCall = {
  model: 'tide-2',
  provider: 'harbour',
  effort: 'low',
  session: 's-1',
  tools: ['Read', 'Bash(ls:*)'],
  words: ['--add-dir', '/quay'],
};

function lineOf(name: string, call: ProgramCall): string {
  const program = MODEL_PROGRAMS.find((each) => each.name === name);
  return (program?.words(call) ?? []).join(' ');
}

describe('the command lines of the programs', () => {
  it.each([
    ['claude', 'claude -p --output-format json'],
    ['codex', 'codex exec --json -'],
    ['gemini', 'gemini -o json'],
    ['opencode', 'opencode run --format json'],
  ])('%s: leaves to the program what nothing sets', (name, line) => {
    expect(lineOf(name, {})).toBe(line);
    expect(lineOf(name, { model: '', session: undefined, tools: [], words: [] })).toBe(line);
  });

  it.each([
    [
      'claude',
      'claude -p --output-format json --model tide-2 --effort low --resume s-1 --allowedTools Read,Bash(ls:*) --add-dir /quay',
      [],
    ],
    ['codex', 'codex exec --json -m tide-2 -c model_reasoning_effort=low --add-dir /quay resume s-1 -', ['tools']],
    ['gemini', 'gemini -o json -m tide-2 --resume s-1 --allowed-tools Read,Bash(ls:*) --add-dir /quay', ['effort']],
    ['opencode', 'opencode run --format json -m harbour/tide-2 --variant low -s s-1 --add-dir /quay', ['tools']],
  ])('%s: passes on every setting that it has an option for', (name, line, lacks) => {
    expect(lineOf(name, EVERYTHING)).toBe(line);
    expect(MODEL_PROGRAMS.find((each) => each.name === name)?.lacks).toEqual(lacks);
  });

  it.each(MODEL_PROGRAMS.map(({ name }) => name))('%s: is never given a value that it would take for an option', (name) => {
    const dashed = '--dangerously-skip-permissions';
    for (const call of [{ model: dashed }, { session: dashed }]) expect(() => lineOf(name, call)).toThrow('must not begin with "-"');
  });

  it('opencode: keeps a model that names its provider', () => {
    expect(lineOf('opencode', { model: 'quay/tide-2', provider: 'harbour' })).toContain('-m quay/tide-2');
    expect(lineOf('opencode', { model: 'tide-2' })).toContain('-m tide-2');
  });

  it('shows words as a line that a shell reads as the same words', () => {
    expect(shellWords(['claude', '-p', '--allowedTools', 'Bash(ls:*)', "it's", ''])).toBe(
      `claude -p --allowedTools 'Bash(ls:*)' 'it'\\''s' ''`,
    );
  });
});

describe('the lane of a program', () => {
  it.each([
    ['claude -p', undefined, 'claude'],
    ['claude -p', 'haiku', 'claude/haiku'],
    ['X=1 timeout 60 /usr/bin/claude --model opus -p', 'haiku', 'claude/opus'],
    [`codex exec -m ${UNKNOWN}`, 'gpt-5', 'codex/gpt-5'],
    ['./model.sh', 'haiku', undefined],
    ['', 'haiku', undefined],
  ])('%j with the model %s: %s', (line, model, lane) => {
    expect(programLane(line, model)).toBe(lane);
  });
});
