/**
 * Builds `dist/`. Fast enough to run before every test; a file whose content did not change is left alone, so that the
 * compiled-code cache of an unchanged bundle stays valid, and a file that did change is replaced by rename, so that a
 * program which starts at the same moment sees the old one or the new one.
 *
 *   dist/mlld.cjs   the command: answers `--version`, else loads the program through V8's code cache
 *   dist/cli.cjs    what every command and a run of a script need; it and the next four are the parts of the program, a function each
 *                   like that around a CommonJS module, which `dist/mlld.cjs` calls: program-parts.mjs
 *   dist/team.cjs   the store of a team
 *   dist/workflows.cjs   JavaScript workflows
 *   dist/packages.cjs    packages that only some commands and scripts need
 *   dist/commands.cjs    the other commands
 *   dist/prices.cjs the table of prices, which is loaded when a cost is looked up in it
 *   dist/lsp.cjs    the language server protocol, which is loaded by `mlld lsp`
 *   dist/pg.cjs     the client of PostgreSQL, which is loaded when the store of a team is opened
 *   dist/index.js   the library, an ES module; packages stay imports
 *   dist/mlld.tmLanguage.json   colours for editors
 *   dist/report.*   what a report page carries: its viewer and style
 *   dist/trend.*    the same for the page over many runs
 *   dist/serve.*    the same for the page of `mlld serve`
 *   dist/types      declarations (`npm run typecheck` is what checks the types)
 *   dist/THIRD-PARTY.txt   the packages that these files hold, with their licences
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRequire } from 'node:module';
import esbuild from 'esbuild';
import { buildParsers } from './grammar/build.mjs';
import { builtinModules } from './builtin-modules.mjs';
import { buildsOfParts, checkParts, PART_FILES } from './program-parts.mjs';
import { thirdPartyNotices } from './third-party.mjs';

const root = path.dirname(fileURLToPath(import.meta.url));
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

/** An uncaught error prints the line that it rose from, and with names as they are its stack can be read: only blanks are left out. */
const LINE_COLUMNS = 160;

const common = {
  absWorkingDir: root,
  bundle: true,
  write: false,
  metafile: true,
  platform: 'node',
  target: 'node20.19',
  logLevel: 'error',
  define: { MLLD_VERSION: JSON.stringify(version) },
};

/** The table of prices is large, and few runs need it: it has a file of its own. */
const pricesApart = {
  name: 'prices-apart',
  setup(build) {
    build.onResolve({ filter: /^@pydantic\/genai-prices$/ }, () => ({ path: './prices.cjs', external: true }));
  },
};

/** Only `mlld lsp` speaks the protocol of editors. */
const protocolApart = {
  name: 'protocol-apart',
  setup(build) {
    build.onResolve({ filter: /\/language-server-protocol\.js$/ }, () => ({ path: './lsp.cjs', external: true }));
  },
};

/** In one file, the client of PostgreSQL takes a quarter less time to load than in its many. */
const databaseApart = {
  name: 'database-apart',
  setup(build) {
    build.onResolve({ filter: /^pg$/ }, () => ({ path: './pg.cjs', external: true }));
  },
};

const commandLine = {
  ...common,
  format: 'cjs',
  // V8's own `import()` doesn't work in code that was compiled through `vm.Script`: there it becomes a lazy `require`.
  supported: { 'dynamic-import': false },
  // Packages that are ES modules ask where they are. Modules of Node are loaded by the `require` of `cli/bin.ts` (START-6).
  define: { ...common.define, 'import.meta.url': 'fileUrl', 'process.getBuiltinModule': 'require' },
  // The function that Node puts around a module is in the file: put around the text when it is read, it would cost a copy of it.
  banner: {
    js: `(function (exports, require, module, __filename, __dirname) {
const fileUrl = require('node:url').pathToFileURL(__filename).href;`,
  },
  footer: { js: '})' },
  plugins: [builtinModules(root), pricesApart, protocolApart, databaseApart],
  minifyWhitespace: true,
  lineLimit: LINE_COLUMNS,
};

/** Runs in a browser, and is sent along with every report. */
const page = { platform: 'browser', target: 'es2022', format: 'iife', minify: true, jsx: 'automatic', jsxImportSource: 'preact' };

async function main() {
  await buildParsers();
  mkdirSync(path.join(root, 'dist'), { recursive: true });
  const parts = await Promise.all((await buildsOfParts(esbuild, commandLine)).map((options) => esbuild.build(options)));
  checkParts(parts);
  const others = await Promise.all([
    esbuild.build({
      ...common,
      entryPoints: [createRequire(import.meta.url).resolve('@pydantic/genai-prices')],
      format: 'cjs',
      outfile: 'dist/prices.cjs',
      minifyWhitespace: true,
      lineLimit: LINE_COLUMNS,
    }),
    esbuild.build({
      ...common,
      entryPoints: ['cli/commands/editor/language-server-protocol.ts'],
      format: 'cjs',
      outfile: 'dist/lsp.cjs',
      minifyWhitespace: true,
      lineLimit: LINE_COLUMNS,
    }),
    esbuild.build({
      ...common,
      entryPoints: [createRequire(import.meta.url).resolve('pg')],
      external: ['pg-native', 'pg-cloudflare'], // other clients, which are never asked for
      define: { Response: 'undefined' }, // it tells Cloudflare apart by it, which has Node 20 load all of its HTTP client
      format: 'cjs',
      outfile: 'dist/pg.cjs',
      minifyWhitespace: true,
      lineLimit: LINE_COLUMNS,
    }),
    esbuild.build({
      ...common,
      define: { ...common.define, MLLD_PARTS: JSON.stringify(PART_FILES) },
      entryPoints: ['cli/bin.ts'],
      format: 'cjs',
      outfile: 'dist/mlld.cjs',
      plugins: [builtinModules(root)],
    }),
    esbuild.build({
      ...common,
      ...page,
      entryPoints: ['viewer/report/main.tsx', 'viewer/report/style.css'],
      outdir: 'dist',
      entryNames: 'report',
    }),
    esbuild.build({
      ...common,
      ...page,
      entryPoints: ['viewer/trend/main.tsx', 'viewer/trend/style.css'],
      outdir: 'dist',
      entryNames: 'trend',
    }),
    esbuild.build({
      ...common,
      ...page,
      entryPoints: ['viewer/serve/main.tsx', 'viewer/serve/style.css'],
      outdir: 'dist',
      entryNames: 'serve',
    }),
    esbuild.build({ ...common, entryPoints: ['src/api/index.ts'], format: 'esm', packages: 'external', outfile: 'dist/index.js' }),
  ]);
  const built = [...parts, ...others];
  replaceIfChanged(path.join(root, 'dist/THIRD-PARTY.txt'), Buffer.from(thirdPartyNotices(root, built.flatMap(filesInside))));
  replaceIfChanged(path.join(root, 'dist/mlld.tmLanguage.json'), Buffer.from(await editorGrammar()));
  for (const { outputFiles } of built) {
    for (const file of outputFiles) {
      const isPart = PART_FILES.includes(path.basename(file.path));
      const text = isPart ? withTablesOfExportsMadeLate(withModulesOfOneShape(file.text)) : file.text;
      replaceIfChanged(file.path, asciiOf(text));
    }
  }
  chmodSync(path.join(root, 'dist/mlld.cjs'), 0o755);
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.types.json'], { cwd: root, stdio: 'inherit' });
}

/** The files of which something is left in what was built. */
function filesInside({ metafile }) {
  return Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs).filter((file) => inputs[file].bytesInOutput > 0));
}

async function editorGrammar() {
  const { outputFiles } = await esbuild.build({ ...common, entryPoints: ['grammar/textmate.ts'], format: 'esm' });
  const { textMateGrammar } = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
  return `${JSON.stringify(textMateGrammar(), undefined, 2)}\n`;
}

/**
 * esbuild hands each module to its loader as an object whose only member has the name of the file. Of as many shapes as there are files V8
 * makes a tree at every start; with one name it is one shape.
 */
function withModulesOfOneShape(text) {
  const renamed = text.replaceAll(/\b(__esm|__commonJS)\(\s*\{\s*"[^"]*"\(/g, '$1({module(');
  if (renamed === text) throw new Error('esbuild writes the modules of a bundle in another way now: build.mjs must follow it');
  return renamed;
}

/**
 * esbuild makes the tables of exports, which `import()` and other parts of the program read, when the file is read: a function for each
 * export, of which few are ever asked for. Made when the module is run, they are made early enough.
 */
function withTablesOfExportsMadeLate(text) {
  const table = /\b__export\(\s*\w+,\s*\{[^{}]*\}\);(?!\s*module\.exports=)/;
  const start = /\b__esm\(\{module\(\)\{\s*(?:"use strict";?)?/;
  return text.replaceAll(new RegExp(`(${table.source})([^]*?${start.source})`, 'g'), (_, made, before) => {
    if (before.includes('__export('))
      throw new Error('esbuild writes the exports of a module in another way now: build.mjs must follow it');
    return before.replace(/"use strict"$/, '$&;') + made;
  });
}

/**
 * esbuild escapes texts; comments and regular expressions are left. A program of one-byte characters is read in half the time, and takes
 * half the memory: `cli/bin.ts` counts on it.
 */
function asciiOf(text) {
  const ascii = text.replaceAll(/[^\0-\u007F]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return Buffer.from(ascii, 'latin1');
}

function replaceIfChanged(file, contents) {
  try {
    if (readFileSync(file).equals(contents)) return;
  } catch {
    // Not there yet.
  }
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, contents);
  renameSync(temporary, file);
}

await main();
