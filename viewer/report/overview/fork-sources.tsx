/** Shows in which lines the script of a fork differs from that of its source, and the command that compares both runs call by call. */
import type { Model } from '../model/page-model.js';
import { changedLines } from '../model/side-by-side.js';
import { number } from '../model/verdict-words.js';
import { DifferingTexts } from '../parts/differing-texts.js';
import { Command } from '../parts/text-block.js';

export function ForkSources({ model: { data, report } }: { readonly model: Model }) {
  const sources = data.forkSources.filter(({ run }) => run !== null);
  return (
    <>
      {sources.map(({ workflow, run, script }, place) => {
        const changed = changedLines(script) ?? 0;
        return (
          <section key={place} class="card" aria-labelledby={`title-source-${place}`}>
            <h2 id={`title-source-${place}`}>
              Compared with {workflow} <small>the source of this fork</small>
            </h2>
            {changed > 0 && (
              <details class="difference">
                <summary>
                  {number(changed)} {changed === 1 ? 'line' : 'lines'} of the script differ{changed === 1 ? 's' : ''}
                </summary>
                <DifferingTexts title="Scripts" lines={script ?? []} names={[workflow, report.workflow]} />
              </details>
            )}
            <Command command={`mlld journal diff ${run} ${report.run}`} does="compare both runs call by call" />
          </section>
        );
      })}
    </>
  );
}
