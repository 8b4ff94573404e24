import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import { runIdAt, workflowOf } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { findProject, findScript, listScripts, scriptName, workflowFor, type WorkingProject } from '../../../src/session/project.js';
import { resolveWorkflow } from '../../../src/session/resolve-workflow.js';
import { resolveRun } from '../../../src/session/recorded-run.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { emptyFolder, projectFolder, runCli } from '../../support/cli.js';

/** In the root of an empty project. */
async function standpoint(): Promise<WorkingProject> {
  const project = await findProject(await projectFolder());
  return { ...project, workingDirectory: project.root };
}

describe('the project root', () => {
  it.each(['mlld-config.json', 'mlld-lock.json', 'mlld.lock.json', 'package.json', '.git', 'pyproject.toml', 'Cargo.toml'])(
    'is the nearest folder with %s',
    async (marker) => {
      const outer = await projectFolder({ [`inner/${marker}`]: '{}', 'inner/deep/er/main.mld': '' });
      expect((await findProject(path.join(outer, 'inner/deep/er'))).root).toBe(path.join(outer, 'inner'));
    },
  );

  it('has a misspelt setting named by each run', async () => {
    const cwd = await projectFolder({ 'mlld-config.json': '{"calls": {"budgett": "5usd"}}', 'llm/run/job.mld': 'show "done"' });
    const { status, stdout, stderr } = await callCli(['run', 'job'], { cwd });
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'done\n' });
    expect(stderr).toContain(
      'warning: "calls.budgett" in mlld-config.json is no setting, and changes nothing; did you mean "calls.budget"?\n',
    );
  });

  it('has defaults without a configuration', async () => {
    const folder = await projectFolder({ 'mlld-config.json': '{}' });
    expect((await findProject(folder)).config).toEqual({ scriptDir: 'llm/run', prefixes: [], suppressWarnings: [] });
  });
});

describe('the configuration', () => {
  const configured = async (text: string) => findProject(await projectFolder({ 'mlld-config.json': text }));

  it('knows prefixes of both places, the folder of scripts, suppressed warnings', async () => {
    const { root, config } = await configured(`{
      "scriptDir": "jobs", "projectname": "unknown keys are ignored",
      "resolvers": { "prefixes": [{ "prefix": "@lib/", "resolver": "LOCAL", "config": { "basePath": "./src/lib" } }] },
      "resolverPrefixes": [{ "prefix": "@old", "resolver": "LOCAL", "config": { "basePath": "old" } },
                           { "prefix": "@far/", "resolver": "REGISTRY", "config": {} }],
      "validate": { "suppressWarnings": ["exe-parameter-shadowing"] } }`);
    expect(config).toEqual({
      scriptDir: 'jobs',
      prefixes: [
        { prefix: '@lib/', basePath: path.join(root, 'src/lib') },
        { prefix: '@old/', basePath: path.join(root, 'old') },
      ],
      suppressWarnings: ['exe-parameter-shadowing'],
    });
  });

  it('knows close relatives of a local prefix, and the settings of modules', async () => {
    const { root, config } = await configured(`{
      "resolvers": { "prefixes": [{ "prefix": "@a/", "resolver": "local", "basePath": "a" }, { "prefix": "@b/", "config": { "basePath": "b" } }] },
      "modules": { "folder": "vendor/mlld", "registry": "https://x.example/i.json" } }`);
    expect(config.prefixes).toEqual([
      { prefix: '@a/', basePath: path.join(root, 'a') },
      { prefix: '@b/', basePath: path.join(root, 'b') },
    ]);
    expect(config.modules).toEqual({ folder: path.join(root, 'vendor/mlld'), registry: 'https://x.example/i.json' });
  });

  it.each([
    ['{\n  "scriptDir": }\n', 17],
    ['{"scriptDir" 5}', 13],
    ['{"scriptDir": "x"', 17],
    ['{"scriptDir": "x" "y": 1}', 18],
    ['', 0],
  ])('says where %j is broken', async (text, at) => {
    await expect(configured(text)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      location: { file: expect.stringContaining('mlld-config.json') as string, at },
    });
  });

  it.each([
    ['[]', /object/],
    ['{"scriptDir": 5}', /"scriptDir"/],
    ['{"resolvers": []}', /"resolvers"/],
    ['{"resolvers": {"prefixes": ["@lib"]}}', /"prefixes"/],
    ['{"modules": {"folder": "../elsewhere"}}', /"modules.folder"/],
    ['{"modules": {"folder": "."}}', /"modules.folder"/],
    ['{"modules": {"registry": 1}}', /"modules.registry"/],
    ['{"resolverPrefixes": [{"prefix": "@lib/"}]}', /basePath/],
    ['{"validate": {"suppressWarnings": "all"}}', /"suppressWarnings"/],
  ])('refuses %s', async (text, message) => {
    await expect(configured(text)).rejects.toThrow(message);
  });
});

describe('scripts of `mlld run`', () => {
  const files = {
    'llm/run/flat.mld': '',
    'llm/run/app/index.mld': '',
    'llm/run/app/main.mld': '',
    'llm/run/tool/main.mld.md': '',
    'llm/run/notes/readme.txt': '',
    'llm/run/both.mld': '',
    'llm/run/both/index.mld': '',
    'llm/run/east/tide.mld': '',
    'llm/run/prose.mld.md': '',
  };

  it.each([
    ['flat', 'llm/run/flat.mld', 'flat'],
    ['flat.mld', 'llm/run/flat.mld', 'flat'],
    ['app', 'llm/run/app/index.mld', 'app'],
    ['tool', 'llm/run/tool/main.mld.md', 'tool'],
    ['prose', 'llm/run/prose.mld.md', 'prose'],
    ['prose.mld.md', 'llm/run/prose.mld.md', 'prose'],
    ['both', 'llm/run/both.mld', 'both'],
    ['east/tide', 'llm/run/east/tide.mld', 'east/tide'],
  ])('finds %s', async (text, relative, name) => {
    const project = await findProject(await projectFolder(files));
    expect(await findScript(project, text, undefined)).toEqual({ path: path.join(project.root, relative), name });
  });

  it("looks in the user's folder after the project's", async () => {
    const home = await projectFolder({ '.mlld/run/mine.mld': '', '.mlld/run/flat.mld': '' });
    const project = await findProject(await projectFolder(files));
    expect((await findScript(project, 'mine', home)).path).toBe(path.join(home, '.mlld/run/mine.mld'));
    expect((await findScript(project, 'flat', home)).path).toBe(path.join(project.root, 'llm/run/flat.mld'));
    expect(await listScripts(project, home)).toEqual(['app', 'both', 'flat', 'mine', 'prose', 'tool']);
  });

  it('names what there is when a name is unknown', async () => {
    const project = await findProject(await projectFolder(files));
    await expect(findScript(project, 'flta', undefined)).rejects.toMatchObject({
      code: 'SCRIPT_UNKNOWN',
      message: expect.stringContaining('flta') as string,
      hint: expect.stringContaining('app, both, flat, prose, tool') as string,
    });
  });

  it('says how a pipeline is run that has the name', async () => {
    const project = await findProject(await projectFolder({ ...files, 'llm/run/release.dot': 'digraph { }' }));
    const hint = `a pipeline is run by its path: mlld run ${path.join('llm/run', 'release.dot')}`;
    await expect(findScript(project, 'release', undefined)).rejects.toMatchObject({ code: 'SCRIPT_UNKNOWN', hint });
  });

  it('gives its path from the folder where the user is, as a shell takes it', async () => {
    const root = await projectFolder({ ...files, 'llm/run/our release.dot': 'digraph { }', 'sub/deep/notes.txt': '' });
    const hintIn = async (folder: string, name: string): Promise<unknown> => {
      const project = { ...(await findProject(root)), workingDirectory: path.join(root, folder) };
      return findScript(project, name, undefined).catch(({ hint }: { hint?: string }) => hint);
    };
    expect(await hintIn('sub/deep', 'our release')).toBe("a pipeline is run by its path: mlld run '../../llm/run/our release.dot'");
    expect(await hintIn('llm/run', 'our release')).toBe("a pipeline is run by its path: mlld run 'our release.dot'");
    const bare = { ...(await findProject(await projectFolder({ 'mlld-config.json': '{}' }))) };
    const below = { ...bare, workingDirectory: path.join(bare.root, 'sub') };
    await expect(findScript(below, 'first', undefined)).rejects.toMatchObject({
      hint: 'no scripts were found; put one at ../llm/run/first.mld',
    });
  });

  it.each([
    ['llm/run/patrol.mld', 'patrol'],
    ['notes.mld.md', 'notes'],
    ['tide/index.mld', 'tide'],
    ['tide/main.mld.md', 'tide'],
  ])('calls %s by name', async (file, name) => {
    expect(scriptName(await findProject(await projectFolder()), file)).toBe(name);
  });

  it('knows a script by its path in the project, others by their whole path', async () => {
    const project = await findProject(await projectFolder());
    expect(workflowFor(project, path.join(project.root, 'llm/run/a.mld'))).toBe('llm/run/a.mld');
    expect(workflowFor(project, '/elsewhere/a.mld')).toBe('/elsewhere/a.mld');
  });
});

async function recorded(...runs: readonly (readonly [string, number])[]): Promise<JournalStore> {
  const store = openMemoryStore();
  for (const [workflow, day] of runs) {
    const journal = await store.create({ workflow: workflowOf(workflow), run: runIdAt(Date.UTC(2026, 0, day), 'aaaa') });
    await journal.close();
  }
  return store;
}

describe('a recorded script', () => {
  const scripts = [
    ['llm/run/patrol.mld', 1],
    ['east/tide.mld', 2],
    ['west/tide.mld', 3],
    ['app/index.mld', 4],
    ['tide', 5],
  ] as const;

  it.each([
    ['patrol', 'llm/run/patrol.mld'],
    ['patrol.mld', 'llm/run/patrol.mld'],
    ['llm/run/patrol.mld', 'llm/run/patrol.mld'],
    ['./llm/run/patrol', 'llm/run/patrol.mld'],
    ['east/tide.mld', 'east/tide.mld'],
    ['east/tide', 'east/tide.mld'],
    ['app', 'app/index.mld'],
    ['app/index.mld', 'app/index.mld'],
    ['gone', undefined],
    ['trol', undefined],
  ])('%s is %s', async (text, workflow) => {
    const project = await standpoint();
    expect(await resolveWorkflow(await recorded(...scripts), project, text)).toBe(workflow);
  });

  it('is never picked among several', async () => {
    const project = await standpoint();
    const store = await recorded(['east/tide.mld', 1], ['west/tide.mld', 2]);
    for (const text of ['tide', 'tide.mld']) {
      await expect(resolveWorkflow(store, project, text)).rejects.toThrow(/east\/tide\.mld.*west\/tide\.mld/);
    }
  });
});

describe('a recorded run', () => {
  const store = () => recorded(['a.mld', 1], ['b.mld', 2], ['a.mld', 3], ['a.mld', 13]);

  it.each([
    ['latest', 13],
    ['a', 13],
    ['a.mld', 13],
    ['a@1', 13],
    ['a@latest', 13],
    ['a@2', 3],
    ['b', 2],
    ['20260102', 2],
    ['a@20260103', 3],
    ['20260113-000000-000-aaaa', 13],
  ])('%s is that of day %i', async (text, day) => {
    const project = await standpoint();
    expect((await resolveRun(await store(), project, text)).ref.run).toBe(runIdAt(Date.UTC(2026, 0, day), 'aaaa'));
  });

  it.each([
    ['2026010', 'RUN_AMBIGUOUS', /20260101.*20260102.*20260103/],
    ['a@9', 'RUN_UNKNOWN', /3 runs/],
    ['c@1', 'RUN_UNKNOWN', /"c"/],
    ['nothing', 'RUN_UNKNOWN', /nothing/],
    ['20250101-000000-000-aaaa', 'RUN_UNKNOWN', /20250101/],
  ])('%s is an error', async (text, code, message) => {
    const project = await standpoint();
    const failed = resolveRun(await store(), project, text);
    await expect(failed).rejects.toMatchObject({ code });
    await expect(failed).rejects.toThrow(message);
  });

  it('is nothing where nothing is recorded', async () => {
    const project = await standpoint();
    await expect(resolveRun(openMemoryStore(), project, 'latest')).rejects.toThrow(/nothing is recorded/);
  });
});

it('reads no configuration where there is none', async () => {
  const folder = await projectFolder();
  await fs.rm(path.join(folder, 'mlld-config.json'));
  await fs.mkdir(path.join(folder, '.git'));
  expect(await findProject(folder)).toMatchObject({ root: folder, config: { scriptDir: 'llm/run' } });
});

it('is the folder that has workflow scripts, where nothing else marks one', async () => {
  const folder = await emptyFolder();
  const scripts = path.join(folder, '.claude', 'workflows');
  await fs.mkdir(path.join(scripts, 'nightly'), { recursive: true });
  expect(await findProject(scripts)).toMatchObject({ root: folder });
  expect(await findProject(path.join(scripts, 'nightly'))).toMatchObject({ root: folder });
  await fs.writeFile(path.join(scripts, 'ask.js'), "export const meta = { name: 'ask', description: 'x' }\nreturn await agent('hello')\n");
  const io = { cwd: folder, env: { HOME: folder } };
  for (const [name, outcome] of [
    ['ask', 'executed'],
    ['.claude/workflows/ask.js', 'reused'],
  ] as const) {
    const run = await runCli(['run', name, '--backend', 'cmd:pwd', '--resume'].slice(0, outcome === 'reused' ? 5 : 4), io);
    expect(run).toMatchObject({ status: 0, stdout: `${await fs.realpath(folder)}\n`, stderr: expect.stringContaining(`1 ${outcome}`) });
  }
  expect((await runCli(['journal', 'list'], io)).stdout).toContain('ask');
});
