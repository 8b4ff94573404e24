/** Shows what the run wrote, and what it was started with. */
import type { ComponentChildren } from 'preact';
import type { Model, PageData } from '../model/page-model.js';
import { number } from '../model/verdict-words.js';
import { TextBlock } from '../parts/text-block.js';

export function Output({ model }: { readonly model: Model }) {
  const { output, files, filesCount, inputs } = model.data;
  return (
    <>
      <section class="card" aria-labelledby="title-output">
        <h2 id="title-output">Output</h2>
        {output.text === '' ? (
          <p class="muted">Nothing was written to standard output.</p>
        ) : (
          <TextBlock title="Standard output" shown={output} />
        )}
        {filesCount > 0 && (
          <>
            <h3>Files written</h3>
            <ul class="plain">
              {files.map((path) => (
                <li key={path}>
                  <code>{path}</code>
                </li>
              ))}
            </ul>
            {filesCount > files.length && <p class="muted">and {number(filesCount - files.length)} more</p>}
          </>
        )}
      </section>
      {inputs && (
        <section class="card" aria-labelledby="title-inputs">
          <h2 id="title-inputs">Inputs</h2>
          <Inputs inputs={inputs} />
        </section>
      )}
    </>
  );
}

function Inputs({ inputs }: { readonly inputs: NonNullable<PageData['inputs']> }) {
  const { argv, payload, flags, calls, forks, resumes, workingDirectory, host, versions } = inputs;
  const set = Object.entries({ ...flags, ...calls });
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    ['Arguments', argv.length === 0 ? 'none' : <code>{argv.join(' ')}</code>],
    ['Settings', set.length === 0 ? 'as usual' : set.map(([name, value]) => `${name} ${worded(value)}`).join(', ')],
    ...(forks.length > 0
      ? [
          [
            'Fork of',
            forks
              .map(({ workflow, run, seq }) => [workflow, run, seq === undefined ? '' : `event ${seq}`].filter(Boolean).join(' '))
              .join(', '),
          ] as const,
        ]
      : []),
    ...(resumes === null ? [] : [['Resumes', resumes] as const]),
    ...(workingDirectory === null ? [] : [['Folder', <code>{workingDirectory}</code>] as const]),
    ['Machine', host],
    [
      'Versions',
      Object.entries(versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(', '),
    ],
  ];
  return (
    <>
      <dl class="facts wide">
        {facts.map(([term, value]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <TextBlock title="Payload" shown={{ text: JSON.stringify(payload, undefined, 2), more: 0 }} />
    </>
  );
}

function worded(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
