/** Lists the questions that wait for a person. Each is answered on the page of its run. */
import type { TeamQuestion } from '../../../src/api/team/team-runs.js';
import { duration } from '../../../cli/render/units.js';
import { addressOf, stay } from '../address.js';

export function WaitingQuestions({ questions }: { readonly questions: readonly TeamQuestion[] }) {
  if (questions.length === 0) return null;
  return (
    <section class="card question" aria-labelledby="title-questions">
      <h2 id="title-questions">
        Waiting for an answer <small>the oldest first</small>
      </h2>
      <ul class="waiting">
        {questions.map(({ run, id, script, person, text, options, askedAt }) => (
          <li key={`${run} ${id}`}>
            <a href={addressOf(run)} onClick={(event) => stay(event, addressOf(run))}>
              {text}
            </a>
            <small>
              {[
                script,
                person,
                `for ${duration(Math.max(0, Date.now() - Date.parse(askedAt)))}`,
                options.map(({ label }) => label).join(' / '),
              ]
                .filter((word) => word !== '')
                .join(' · ')}
            </small>
          </li>
        ))}
      </ul>
    </section>
  );
}
