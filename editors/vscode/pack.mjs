/**
 * Packs the extension: `node editors/vscode/pack.mjs [FILE]`. A .vsix is a zip file with two manifests. It has the client with its library in
 * one file, and the grammar that the build makes (`npm run build` comes first). The same sources give the same file.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import esbuild from 'esbuild';
import { zipSync } from 'fflate';

import { thirdPartyNotices } from '../../third-party.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.join(here, '../..');
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const manifest = { ...JSON.parse(readFileSync(path.join(here, 'package.json'), 'utf8')), version };
/** Zip files have no earlier day, and the day of packing would make each file another. */
const DAY = new Date(1980, 0, 1);

const TYPES = { json: 'application/json', js: 'application/javascript', md: 'text/markdown', txt: 'text/plain', vsixmanifest: 'text/xml' };

const contentTypes = `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">${Object.entries(TYPES)
  .map(([extension, type]) => `<Default Extension=".${extension}" ContentType="${type}"/>`)
  .join('')}</Types>
`;

const vsixManifest = `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="${manifest.name}" Version="${version}" Publisher="${manifest.publisher}"/>
    <DisplayName>${manifest.displayName}</DisplayName>
    <Description xml:space="preserve">${manifest.description}</Description>
    <Categories>${manifest.categories.join(',')}</Categories>
    <Properties><Property Id="Microsoft.VisualStudio.Code.Engine" Value="${manifest.engines.vscode}"/></Properties>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
  </Assets>
</PackageManifest>
`;

/** The client in one file; `vscode` is what the editor gives it. */
const { outputFiles, metafile } = await esbuild.build({
  absWorkingDir: root,
  entryPoints: ['editors/vscode/client.js'],
  bundle: true,
  write: false,
  metafile: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  external: ['vscode'],
  minifyWhitespace: true,
  outfile: 'client.js',
  logLevel: 'error',
});

const copied = [
  'README.md',
  'language-configuration.json',
  'snippets.json',
  ...readdirSync(path.join(here, 'syntaxes')).map((name) => `syntaxes/${name}`),
];
const files = {
  '[Content_Types].xml': Buffer.from(contentTypes),
  'extension.vsixmanifest': Buffer.from(vsixManifest),
  'extension/package.json': Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`),
  'extension/client.js': Buffer.from(outputFiles[0].contents),
  'extension/LICENSE.txt': readFileSync(path.join(root, 'LICENSE')),
  'extension/THIRD-PARTY.txt': Buffer.from(thirdPartyNotices(root, Object.keys(metafile.inputs))),
  'extension/syntaxes/mlld.tmLanguage.json': readFileSync(path.join(root, 'dist/mlld.tmLanguage.json')),
  ...Object.fromEntries(copied.map((name) => [`extension/${name}`, readFileSync(path.join(here, name))])),
};

const target = path.resolve(process.argv[2] ?? path.join(here, 'out', `mlld-${version}.vsix`));
mkdirSync(path.dirname(target), { recursive: true });
writeFileSync(target, zipSync(files, { mtime: DAY }));
console.log(target);
