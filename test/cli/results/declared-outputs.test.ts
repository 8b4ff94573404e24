import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder, type CliResult, withoutSummary } from '../../support/cli.js';

/** Writes bytes that are no text, and leaves a line in `calls.log`. */
const script = (marker = '1', option = 'writes: ["@root/out/@name\\.bin", "@root/out/@name\\.txt"]'): string => `
exe llm @draw(name, style) = sh { echo "$name" >> calls.log; mkdir -p out; printf '\\377\\000${marker}%s' "$style" > out/$name.bin; [ "$name" = bare ] || echo "about $name" > out/$name.txt; echo "drew $name" } with { ${option} }
`;

async function project(body: string) {
  const cwd = await projectFolder({ 'job.mld': script() + body });
  const log = path.join(cwd, 'calls.log');
  return {
    mlld: (...argv: string[]): Promise<CliResult> => callCli(argv, { cwd }),
    run: (...flags: string[]): Promise<CliResult> => callCli(['job.mld', ...(flags.length > 0 ? flags : ['--checkpoint'])], { cwd }),
    calls: (): number => (fs.existsSync(log) ? fs.readFileSync(log, 'utf8').split('\n').length - 1 : 0),
    file: (name: string): string => path.join(cwd, name),
    bytes: (name: string): string => fs.readFileSync(path.join(cwd, name)).toString('hex'),
    write: (name: string, text: string): void => fs.writeFileSync(path.join(cwd, name), text),
  };
}

describe('files that an llm function declares to write', () => {
  it('are put back, byte for byte, when they are missing', async () => {
    const { run, calls, bytes, file } = await project('show @draw("a", "x")\n');
    await run();
    const before = bytes('out/a.bin');
    fs.rmSync(file('out'), { recursive: true });
    expect(await run()).toMatchObject({
      status: 0,
      stdout: 'drew a\n',
      stderr: expect.stringMatching(/^1 call: 1 reused, .*\n$/) as string,
    });
    expect({ calls: calls(), bin: bytes('out/a.bin'), txt: bytes('out/a.txt') }).toEqual({
      calls: 1,
      bin: before,
      txt: Buffer.from('about a\n').toString('hex'),
    });
  });

  it('are put back for a call that has the label itself, also with options', async () => {
    const labelled = 'var llm @a = @draw("a", "x") with { guards: false }\nvar llm @b = @draw("b", "x")\nshow `@a @b`\n';
    const { run, calls, file, write } = await project('');
    write('job.mld', (script() + labelled).replace('exe llm', 'exe'));
    await run();
    fs.rmSync(file('out'), { recursive: true });
    expect(await run()).toMatchObject({ status: 0, stdout: 'drew a drew b\n' });
    expect({ calls: calls(), files: fs.readdirSync(file('out')) }).toEqual({ calls: 2, files: ['a.bin', 'a.txt', 'b.bin', 'b.txt'] });
  });

  it('are not stored where the result is secret, also one that a control word carries', async () => {
    for (const end of ['=> @token', 'done @token']) {
      const cwd = await projectFolder({
        'job.mld': `var secret @token = "swordfish"\nexe llm @draft(path) = [\n  output "text" to "@path"\n  ${end}\n] with { writes: ["@path"] }\nvar @x = @draft("out.txt")\n`,
      });
      await callCli(['job.mld', '--checkpoint'], { cwd });
      const { stdout } = await callCli(['journal', 'show', 'job', '--type', 'call.completed', '--json'], { cwd });
      expect(JSON.parse(stdout)).toMatchObject({ outputs: [{ path: 'out.txt', reason: 'secret' }] });
    }
  });

  it('stay when they are what the call wrote', async () => {
    const { run, calls, file } = await project('show @draw("a", "x")\n');
    await run();
    const written = fs.statSync(file('out/a.bin')).mtimeMs;
    expect(withoutSummary((await run()).stderr)).toBe('');
    expect({ calls: calls(), mtime: fs.statSync(file('out/a.bin')).mtimeMs }).toEqual({ calls: 1, mtime: written });
  });

  it('are restored over what another recorded call wrote there', async () => {
    const { run, calls, bytes, write } = await project('show @draw("a", "x")\n');
    await run();
    const first = bytes('out/a.bin');
    write('job.mld', `${script()}show @draw("a", "y")\n`);
    await run();
    expect(bytes('out/a.bin')).not.toBe(first);
    write('job.mld', `${script()}show @draw("a", "x")\n`);
    expect(withoutSummary((await run()).stderr)).toBe('');
    expect({ calls: calls(), bin: bytes('out/a.bin') }).toEqual({ calls: 2, bin: first });
  });

  it('have the call run again when they were changed, and the run says so', async () => {
    const { mlld, run, calls, bytes, write } = await project('show @draw("a", "x")\n');
    await run();
    const before = bytes('out/a.bin');
    write('out/a.bin', 'mine');
    const { stdout, stderr } = await run();
    expect({ stdout, calls: calls(), bin: bytes('out/a.bin') }).toEqual({ stdout: 'drew a\n', calls: 2, bin: before });
    expect(stderr).toContain('out/a.bin changed since @draw wrote it; the call is executed again (--keep-files keeps what is there)');
    expect((await mlld('journal', 'explain', 'job')).stdout).toMatch(/executed: out\/a\.bin is not what it had written in run \S+\n$/);
    expect((await mlld('journal', 'verify', 'job')).status).toBe(0);
  });

  it('are kept with --keep-files, and the result is reused', async () => {
    const { run, calls, file, write } = await project('show @draw("a", "x")\n');
    await run();
    write('out/a.bin', 'mine');
    fs.rmSync(file('out/a.txt'));
    const { stdout, stderr } = await run('--checkpoint', '--keep-files');
    expect({ stdout, calls: calls() }).toEqual({ stdout: 'drew a\n', calls: 1 });
    expect(stderr).toContain('out/a.bin changed since @draw wrote it, and is kept');
    expect(fs.readFileSync(file('out/a.bin'), 'utf8')).toBe('mine');
    expect(fs.readFileSync(file('out/a.txt'), 'utf8')).toBe('about a\n');
  });

  it('may be left unwritten by a call', async () => {
    const { run, calls, file } = await project('show @draw("bare", "x")\n');
    await run();
    fs.rmSync(file('out/bare.bin'));
    await run();
    expect({ calls: calls(), bin: fs.existsSync(file('out/bare.bin')), txt: fs.existsSync(file('out/bare.txt')) }).toEqual({
      calls: 1,
      bin: true,
      txt: false,
    });
  });

  it('have the call run again when its recorded result does not have them', async () => {
    const { run, calls, write } = await project('show @draw("a", "x")\n');
    write('job.mld', `${script('1', 'key: [@name]')}show @draw("a", "x")\n`);
    await run();
    write('job.mld', `${script('1', 'key: [@name], writes: "@root/out/@name\\.bin"')}show @draw("a", "x")\n`);
    expect((await run()).stderr).toContain('lacks output files that it declares now; the call is executed again');
    expect(withoutSummary((await run()).stderr)).toBe('');
    expect(calls()).toBe(2);
  });

  it.each<[string, string, string]>([
    ['more', 'writes: ["@root/out/@name\\.bin"]', 'writes: ["@root/out/@name\\.bin", "@root/out/@name\\.txt"]'],
    ['fewer', 'writes: ["@root/out/@name\\.bin", "@root/out/@name\\.txt"]', 'writes: ["@root/out/@name\\.bin"]'],
  ])('have the call run again when it declares %s of them now', async (_count, before, after) => {
    const { run, calls, write } = await project('');
    for (const option of [before, after]) {
      write('job.mld', `${script('1', option)}show @draw("a", "x")\n`);
      expect((await run()).status).toBe(0);
    }
    expect(calls()).toBe(2);
  });

  it('come with a forked result', async () => {
    const { mlld, run, calls, file, write } = await project('show @draw("a", "x")\n');
    await run();
    fs.rmSync(file('out'), { recursive: true });
    write('other.mld', `${script()}show @draw("a", "x")\n`);
    expect(await mlld('other.mld', '--fork', 'job')).toMatchObject({
      status: 0,
      stdout: 'drew a\n',
      stderr: expect.stringMatching(/^1 call: 1 reused, .*\n$/) as string,
    });
    expect({ calls: calls(), bin: fs.existsSync(file('out/a.bin')) }).toEqual({ calls: 1, bin: true });
  });

  it('need paths', async () => {
    const { run, write } = await project('');
    write('job.mld', `${script('1', 'writes: [5]')}show @draw("a", "x")\n`);
    expect(await run()).toMatchObject({ status: 1, stderr: expect.stringContaining('writes takes the path of a file') as string });
  });

  it('have the call run again when what it wrote is lost', async () => {
    const { run, calls, file } = await project('show @draw("a", "x")\n');
    await run();
    fs.rmSync(file('out'), { recursive: true });
    fs.rmSync(file('.mlld/journal/blobs'), { recursive: true });
    expect((await run()).stderr).toContain("can't be read any more; the call is executed again");
    expect(calls()).toBe(2);
  });
});
