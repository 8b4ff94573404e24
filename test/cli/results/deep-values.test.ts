/** Values that are nested deeper than a journal holds: the run is the same with a journal as without, and says what isn't kept. */
import { describe, expect, it } from 'vitest';
import { projectFolder, runCli, withoutSummary } from '../../support/cli.js';

const NEST = (levels: number): string =>
  `exe @nest(n) = js { let v = "core"; for (let i = 0; i < ${levels}; i++) v = [v]; return v }
exe @depth(v) = js { let n = 0; while (Array.isArray(v)) { v = v[0]; n++ } return n + v }
`;
const SCRIPT = `exe llm @made(n) = js { let v = "core"; for (let i = 0; i < Number(n); i++) v = [v]; return v }
exe llm @told(v, n) = js { let d = 0; while (Array.isArray(v)) { v = v[0]; d++ } return "told " + d + v }
var @a = @made(LEVELS)
show @depth(@a)
var @b = @nest()
show @told(@b, 1)
show @told(["flat"], 2)
`;

describe('values nested deeper than the journal holds', () => {
  it('are used as they are, and executed again by the next run', async () => {
    const cwd = await projectFolder({ 'job.mld': NEST(1500) + SCRIPT.replace('LEVELS', '1500') });
    const plain = await runCli(['job.mld'], { cwd });
    expect(plain).toMatchObject({ status: 0, stdout: '1500core\ntold 1500core\ntold 1flat\n' });
    for (const executed of [3, 2]) {
      const { status, stdout, stderr } = await runCli(['job.mld', '--checkpoint'], { cwd });
      expect({ status, stdout }).toEqual({ status: 0, stdout: plain.stdout });
      expect(stderr).not.toContain('0.0.0');
      expect(stderr).not.toContain("can't be written");
      expect(
        stderr.match(/nested deeper than 1000 levels \(or in itself\) can't be recorded; every run makes this call again/g),
      ).toHaveLength(1);
      expect(stderr).toContain('an argument of @told is nested too deeply for the journal: this call is neither recorded nor reused');
      expect((await runCli(['journal', 'verify', 'job'], { cwd })).status).toBe(0);
      const [latest] = JSON.parse((await runCli(['journal', 'list', 'job', '--json'], { cwd })).stdout) as {
        executed: number;
        reused: number;
      }[];
      // Counted, though the journal does not have the call whose argument is too deep.
      expect(latest).toMatchObject({ executed, reused: 3 - executed });
    }
  });

  it('are kept whole up to the limit', async () => {
    const cwd = await projectFolder({ 'job.mld': NEST(990) + SCRIPT.replace('LEVELS', '990') });
    const first = await runCli(['job.mld', '--checkpoint'], { cwd });
    expect(first).toMatchObject({ status: 0, stdout: '990core\ntold 990core\ntold 1flat\n' });
    expect(withoutSummary(first.stderr)).toBe('');
    const again = await runCli(['job.mld', '--checkpoint'], { cwd });
    expect(again).toMatchObject({ status: 0, stdout: first.stdout, stderr: expect.stringMatching(/^3 calls: 3 reused, \S+\n$/) as string });
  });

  it('are reported alike, whether the run knows a secret or not', async () => {
    const script = `${NEST(1500)}var @b = @nest()\nshow @depth(@b)\n`;
    const found = await Promise.all(
      ['', 'var secret @token = "a-token-of-many-letters"\n'].map(async (secret) => {
        const cwd = await projectFolder({ 'job.mld': secret + script });
        const { status, stdout, stderr } = await runCli(['job.mld', '--checkpoint'], { cwd });
        const shown = await runCli(['journal', 'show', 'job', '--type', 'effect.performed', '--json'], { cwd });
        const events = shown.stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as { kind: string; result: unknown });
        return {
          status,
          stdout,
          stderr: withoutSummary(stderr),
          results: events.filter(({ kind }) => kind === 'code.run').map(({ result }) => result),
        };
      }),
    );
    expect(found[0]).toMatchObject({ status: 0, stdout: '1500core\n', results: [{ redacted: 'it is nested too deeply' }] });
    expect(found[1]).toEqual(found[0]);
  });
});
