/**
 * The files that the command line is built in. `dist/cli.cjs` is read at every start and has what a run of a script over files needs; each
 * other part is read when something in it is asked for.
 *
 * PART-1 a module is in one part only: two copies of a class, or of a table that fills, would not know each other. It is in the first part
 *    of `PARTS` that loads it in any other way than by `await import()`.
 * PART-2 a module of another part is run when the first module that needs it is run, as within one bundle: the build puts
 *    `require('./cli.cjs').load('src/errors.ts')` in its place, and `cli/bin.ts` reads the part. So the order of evaluation is the same.
 * PART-3 the exports of a module are put into an object for other parts when one of them asks, not at every start.
 */
import path from 'node:path';

const COMMAND = 'cli/main.ts';

/**
 * What each part begins with: all that these modules import along with themselves is in the part, unless it is in an earlier one. A pattern
 * stands for the modules that it matches among those that `await import()` loads.
 */
const PARTS = {
  'cli.cjs': [
    COMMAND,
    'cli/commands/conclude.ts',
    'cli/commands/file.ts',
    'cli/commands/preflight.ts',
    'cli/commands/run-script.ts',
    'cli/commands/run.ts',
    'cli/options/misspelt-command.ts',
    'cli/render/call-summary.ts',
    'cli/render/error.ts',
    'cli/render/pause.ts',
    'cli/render/progress/stream.ts',
    'cli/render/progress/terminal.ts',
    'cli/terminal/log.ts',
    'journal/secrets/keyring.ts',
    'journal/storage/file-store.ts',
    'journal/storage/index-files.ts',
    'src/calls/price/genai-prices.ts',
    // Small, and needed by most other parts.
    'cli/command-table/workflow-flags.ts',
    'cli/options/refuse-workers.ts',
    'journal/upkeep/bundle.ts',
    'src/modules/called-module.ts',
    'src/session/script/current-definitions.ts',
    'src/session/upkeep/push-spills.ts',
  ],
  'team.cjs': [
    'journal/postgres/open-store.ts',
    'journal/postgres/pg-client.ts',
    'journal/postgres/pg-keeper.ts',
    'journal/postgres/spill/push-spills.ts',
    'journal/postgres/store-address.ts',
    'src/calls/lanes/shared-lanes.ts',
    'src/language/calls/describe-call.ts',
    'src/session/ports/claims/team-results.ts',
    'src/session/ports/offers/offered-calls.ts',
  ],
  'workflows.cjs': ['cli/commands/workflows/program.ts', 'cli/commands/workflows/run.ts', 'src/api/commands/workflows/files.ts'],
  'packages.cjs': /^node_modules\//,
  'commands.cjs': /./,
};

export const PART_FILES = Object.keys(PARTS);

/** Ways to modules of Node and between parts: they hold nothing. */
const IN_EACH_PART = /^(once|once-all|lazy|lazy-all|elsewhere|names-elsewhere|asked|asked-for):/;
const OF_PACKAGE = /^node_modules\//;

/** Returns the options with which esbuild builds each part. `whole` are those that build the command line as one bundle. */
export async function buildsOfParts(esbuild, whole) {
  const { metafile } = await esbuild.build({ ...whole, entryPoints: [COMMAND], outfile: 'whole.cjs' });
  const imports = importsIn(metafile);
  const partOf = assignParts(imports);
  const across = imports.filter(({ from, to }) => partOf.get(from) !== partOf.get(to));
  const needsNames = (one) => isStatic(one) || !OF_PACKAGE.test(one.to);
  const exportsOf = await namesOfExports(esbuild, { whole, modules: across.filter(needsNames).map(({ to }) => to) });
  return PART_FILES.map((file) => {
    const asking = across.filter(({ from }) => partOf.get(from) === file);
    const askedFor = new Set(across.filter(({ to }) => partOf.get(to) === file).map(({ to }) => to));
    return {
      ...whole,
      stdin: { contents: entryOf(file, [...askedFor]), resolveDir: whole.absWorkingDir, sourcefile: file },
      plugins: [
        otherParts(asking, { root: whole.absWorkingDir, partOf, exportsOf }),
        askedModules({ root: whole.absWorkingDir, exportsOf }),
        ...whole.plugins,
      ],
      outfile: `dist/${file}`,
    };
  });
}

/** The imports of files of which something is left in the bundle, but for those of Node's own modules, which each part makes for itself. */
function importsIn({ inputs, outputs }) {
  const [{ inputs: kept }] = Object.values(outputs);
  const isFile = (name) => Object.hasOwn(inputs, name) && !IN_EACH_PART.test(name);
  return Object.keys(kept)
    .filter(isFile)
    .flatMap((from) => inputs[from].imports.map(({ path: to, original, kind }) => ({ from, to, original, kind })))
    .filter(({ to }) => isFile(to));
}

/** PART-1. Throws when one of our modules, or of a package, is in two parts that were built. */
export function checkParts(built) {
  const partOf = new Map();
  for (const { outputs } of built.map(({ metafile }) => metafile)) {
    const [[file, { inputs }]] = Object.entries(outputs);
    for (const module of Object.keys(inputs).filter((name) => !IN_EACH_PART.test(name))) {
      if (partOf.has(module)) throw new Error(`${module} is in ${partOf.get(module)} and in ${file}`);
      partOf.set(module, file);
    }
  }
}

const isLater = ({ kind }) => kind === 'dynamic-import';
const isStatic = ({ kind }) => kind === 'import-statement';

/** PART-1 */
function assignParts(imports) {
  const needs = new Map();
  for (const { from, to } of imports.filter((one) => !isLater(one))) needs.set(from, [...(needs.get(from) ?? []), to]);
  const known = new Set(imports.flatMap(({ from, to }) => [from, to]));
  const later = [...new Set(imports.filter(isLater).map(({ to }) => to))];
  const partOf = new Map();
  const assign = (module, file) => {
    if (partOf.has(module)) return;
    partOf.set(module, file);
    for (const needed of needs.get(module) ?? []) assign(needed, file);
  };
  for (const [file, members] of Object.entries(PARTS)) {
    const modules = Array.isArray(members) ? members : later.filter((module) => members.test(module));
    for (const module of modules) {
      if (!known.has(module)) throw new Error(`${module} is not in the program: program-parts.mjs must follow it`);
      assign(module, file);
    }
  }
  return partOf;
}

async function namesOfExports(esbuild, { whole, modules }) {
  const { absWorkingDir, platform, target, logLevel } = whole;
  const entryPoints = [...new Set(modules)];
  const options = { absWorkingDir, platform, target, logLevel, entryPoints, format: 'esm', outdir: 'unused', write: false, metafile: true };
  const { metafile, outputFiles } = await esbuild.build(options);
  const unnamed = outputFiles.find(({ text }) => /^export \* from/m.test(text));
  if (unnamed) throw new Error(`${unnamed.path} exports what it does not name, and another part asks for it: program-parts.mjs`);
  return new Map(Object.values(metafile.outputs).map(({ entryPoint, exports }) => [entryPoint, exports]));
}

function entryOf(file, askedFor) {
  const start = PARTS[file][0] === COMMAND ? `import './${COMMAND}';\n` : '';
  const rows = askedFor.map((module) => {
    const name = JSON.stringify(module);
    const loading = OF_PACKAGE.test(module)
      ? `require(${JSON.stringify(`./${module}`)})`
      : `require(${JSON.stringify(`asked-for:${module}`)}), asked[${name}]`;
    return `${name}: () => (${loading}),\n`;
  });
  return `import { asked } from 'asked:';
${start}let modules;
export function load(name) {
  modules ??= {\n${rows.join('')}};
  return modules[name]();
}
`;
}

/**
 * PART-3. Puts the exports of a module that another part asks for into an object when it is asked for. Where a module is required as it is,
 * esbuild defines a getter for each export of it at every start.
 */
function askedModules({ root, exportsOf }) {
  return {
    name: 'asked-modules',
    setup(build) {
      build.onResolve({ filter: /^asked:$/ }, ({ path: name }) => ({ path: name, namespace: 'asked' }));
      build.onResolve({ filter: /^asked-for:/ }, ({ path: name }) => ({ path: name.slice('asked-for:'.length), namespace: 'asked-for' }));
      build.onLoad({ filter: /./, namespace: 'asked' }, () => ({ contents: 'export const asked = {};' }));
      build.onLoad({ filter: /./, namespace: 'asked-for' }, ({ path: module }) => {
        const names = exportsOf.get(module);
        const local = names.map((name, place) => `${name} as n${place}`).join(', ');
        const members = names.map((name, place) => `${name}: n${place}`).join(', ');
        return {
          contents: `import { asked } from 'asked:';
import { ${local} } from ${JSON.stringify(`./${module}`)};
asked[${JSON.stringify(module)}] = { __esModule: true, ${members} };`,
          resolveDir: root,
        };
      });
    },
  };
}

/** PART-2. `asking` are the imports of one part that lead to others. */
function otherParts(asking, { root, partOf, exportsOf }) {
  const keyOf = (from, original) => `${from} ${original}`;
  const moduleBehind = new Map(asking.map(({ from, original, to }) => [keyOf(from, original), to]));
  const loadOf = (module) => `require(${JSON.stringify(`./${partOf.get(module)}`)}).load(${JSON.stringify(module)})`;
  return {
    name: 'other-parts',
    setup(build) {
      build.onResolve({ filter: /./, namespace: 'file' }, ({ path: original, kind, importer }) => {
        const module = moduleBehind.get(keyOf(path.relative(root, importer).replaceAll('\\', '/'), original));
        if (module === undefined) return undefined;
        // The extension says that it is no ES module, which the extension of the module itself may say of it.
        return isStatic({ kind }) ? { path: module, namespace: 'names-elsewhere' } : { path: `${module}.cjs`, namespace: 'elsewhere' };
      });
      build.onResolve({ filter: /./, namespace: 'names-elsewhere' }, external);
      build.onResolve({ filter: /./, namespace: 'elsewhere' }, external);
      // With their names, the exports become variables of the part that asks, and nothing has to look them up at each use.
      build.onLoad({ filter: /./, namespace: 'names-elsewhere' }, ({ path: module }) => ({
        contents: `export const { ${exportsOf.get(module).join(', ')} } = ${loadOf(module)};`,
      }));
      build.onLoad({ filter: /./, namespace: 'elsewhere' }, ({ path: name }) => ({
        contents: `module.exports = ${loadOf(name.replace(/\.cjs$/, ''))};`,
      }));
    },
  };
}

const external = ({ path: name }) => ({ path: name, external: true });
