/** The licence notices of the packages that the bundles hold. Their licences ask for them wherever a copy of the work goes. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;
const LICENCE_FILE = /^(licen[cs]e|copying|notice)/i;

/** Packages that name their licence and its holder, and do not hold its text. */
const TEXT_ELSEWHERE = {
  ndjson: `Copyright (c) Max Ogden and the contributors of ndjson

Redistribution and use in source and binary forms, with or without modification, are permitted provided that the following conditions are met:

1. Redistributions of source code must retain the above copyright notice, this list of conditions and the following disclaimer.

2. Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the following disclaimer in the
   documentation and/or other materials provided with the distribution.

3. Neither the name of the copyright holder nor the names of its contributors may be used to endorse or promote products derived from this
   software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED
TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR
CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO,
PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF
LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS
SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.`,
};

/** `files` are named from `root`, as in esbuild's metafile. Throws when a package has no licence to show: the build must not go out then. */
export function thirdPartyNotices(root, files) {
  const folders = new Set(files.flatMap((file) => PACKAGE.exec(file)?.[0] ?? []));
  const packages = [...folders].map((folder) => noticeOf(path.join(root, folder))).sort();
  const head = 'The JavaScript files of this folder hold copies of the packages below, each under its own licence.\n';
  return [head, ...packages].join(`\n${'-'.repeat(80)}\n`);
}

function noticeOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).filter((file) => LICENCE_FILE.test(file));
  const text =
    files.length === 0
      ? (TEXT_ELSEWHERE[name] ?? licenceInReadme(folder))
      : files.map((file) => readFileSync(path.join(folder, file), 'utf8').trim()).join('\n\n');
  if (text === undefined) throw new Error(`${name} is bundled, and there is no licence text in ${folder}`);
  return `${name} ${version} (${license})\n\n${text}\n`;
}

/** Returns the text of the licence from its copyright on, where a package has it at the end of its description. */
function licenceInReadme(folder) {
  const readme = readFileSync(path.join(folder, 'README.md'), 'utf8');
  const start = readme.search(/^copyright \(c\)/im);
  const text = start < 0 ? '' : readme.slice(start).trim();
  return text.includes('Permission is hereby granted') ? text : undefined;
}
