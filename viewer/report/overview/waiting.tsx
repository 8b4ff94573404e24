/** Shows what a running pipeline waits for people to answer, and since when. The commands that answer it are in the card below. */
import { choiceLine } from '../../../src/pipeline/model/labels.js';
import { duration, time } from '../../../cli/render/units.js';
import type { Model } from '../model/page-model.js';
import { hashOfNode } from '../model/route.js';
import { openQuestions } from '../model/verdict-words.js';

export function Waiting({ model: { data } }: { readonly model: Model }) {
  return (
    <>
      {openQuestions(data).map(({ id, node, text, options, asked, waitedMs }) => (
        <section key={id} class="card waiting" aria-labelledby={`title-${id}`}>
          <h2 id={`title-${id}`}>{text}</h2>
          {options.length > 0 && <p>{options.map(choiceLine).join(', ')}</p>}
          <p class="muted">
            <a href={hashOfNode(node)}>{node}</a> has waited {duration(waitedMs)} for an answer to {id}, since{' '}
            <time dateTime={asked}>{time(Date.parse(asked))}</time>
          </p>
        </section>
      ))}
    </>
  );
}
