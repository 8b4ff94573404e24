/**
 * Puts the built-in modules of Node behind modules of the bundle. esbuild copies all members of a CommonJS module for each file that
 * imports it, as getters that are defined one by one: for `node:fs` a hundred. Even one such copy of each took a twentieth of the start of
 * a short script.
 *
 * NODE-1 Our files share one module of the bundle for each built-in module. It has the members that one of them names, as variables.
 * NODE-2 A heavy built-in module is loaded when something of it is first used, not when a file that may use it is.
 * NODE-3 What packages import isn't known here, so they share another module of the bundle, which has all members.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/** The folders of our files. */
const OURS = ['cli', 'grammar', 'journal', 'replay', 'src'];
/** They take a millisecond or more to load; the rest is there before a program starts. */
const HEAVY = ['console', 'crypto', 'fs/promises', 'os', 'perf_hooks', 'stream', 'timers/promises', 'tty', 'zlib'];
const IMPORT = /^import\s(\w+)?(?:,\s)?(?:\{([^}]*)\})? from '(node:[\w/]+)'/gm;

const isHeavy = (name) => HEAVY.includes(name.slice('node:'.length));

/** Returns the esbuild plugin. `root` is the folder of the project. */
export function builtinModules(root) {
  const named = namesIn(root);
  const folders = OURS.map((folder) => path.join(root, folder) + path.sep);
  const isOurs = (file) => folders.some((folder) => file.startsWith(folder));
  return {
    name: 'builtin-modules',
    setup(build) {
      build.onResolve({ filter: /^node:/ }, ({ path: name, kind, namespace, importer }) => {
        if (namespace === 'lazy' || namespace === 'lazy-all') return undefined;
        const isOwn = namespace === 'file' ? isOurs(importer) : namespace === 'once';
        if (kind === 'import-statement' && namespace === 'file') return { path: name, namespace: isOwn ? 'once' : 'once-all' };
        return isHeavy(name) ? { path: name, namespace: isOwn ? 'lazy' : 'lazy-all' } : { path: name, external: true };
      });
      build.onLoad({ filter: /./, namespace: 'once' }, ({ path: name }) => {
        const names = [...(named.get(name) ?? [])].join(', ');
        if (isHeavy(name)) return { contents: `export { default, ${names} } from ${JSON.stringify(name)};` };
        return { contents: `const all = require(${JSON.stringify(name)}); export default all; export const { ${names} } = all;` };
      });
      build.onLoad({ filter: /./, namespace: 'once-all' }, ({ path: name }) => ({
        contents: `export * from ${JSON.stringify(name)}; export { default } from ${JSON.stringify(name)};`,
      }));
      build.onLoad({ filter: /./, namespace: 'lazy' }, ({ path: name }) => ({ contents: lazy(name, named.get(name) ?? []) }));
      build.onLoad({ filter: /./, namespace: 'lazy-all' }, ({ path: name }) => ({ contents: lazy(name, membersOf(name)) }));
    },
  };
}

/** Kept once loaded: `require` looks the name up each time, and hot paths come through here. */
function lazy(name, names) {
  const members = [...names].map((member) => `get ${member}() { return load().${member}; }`);
  return `let loaded;
const load = () => (loaded ??= require(${JSON.stringify(name)}));
module.exports = { get default() { return load(); }, ${members.join(', ')} };`;
}

function membersOf(name) {
  return Object.keys(createRequire(import.meta.url)(name));
}

/**
 * Returns the members that our files name, by the built-in module: all of a heavy one that a file imports as a whole. The build fails where
 * this misses one.
 */
function namesIn(root) {
  const named = new Map();
  const files = OURS.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true }).map((file) => path.join(root, folder, file)),
  );
  for (const file of files.filter((each) => /\.[mc]?[jt]sx?$/.test(each))) {
    for (const [, whole, members = '', name] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      const known = named.get(name) ?? new Set();
      if (whole !== undefined && isHeavy(name)) membersOf(name).forEach((member) => known.add(member));
      for (const member of members.split(',')) {
        const [, imported] = /^\s*(?:type\s)?(\w+)/.exec(member) ?? [];
        if (imported !== undefined) known.add(imported);
      }
      named.set(name, known);
    }
  }
  return named;
}
