/** Lists the latest events of a run, the newest first. */
import { useState } from 'preact/hooks';
import type { JournalEvent } from '../../journal/event.js';
import { describeEvent } from '../../replay/reports/summary/describe.js';
import { number } from '../report/model/verdict-words.js';
import { Table } from '../report/parts/table.js';

export interface ListedEvent {
  readonly number: string;
  /** The time of the day, UTC. */
  readonly time: string;
  readonly type: string;
  readonly op: string;
  readonly words: string;
}

const WORDS_MAX = 400;
const SHOWN_MAX = 200;

export function listedEvent(event: JournalEvent, place: string): ListedEvent {
  return {
    number: place,
    time: event.ts.slice(11, 23),
    type: event.type,
    op: 'op' in event && typeof event.op === 'string' ? event.op : '',
    words: describeEvent(event).slice(0, WORDS_MAX),
  };
}

export function EventList({ events, run }: { readonly events: readonly ListedEvent[]; readonly run: string }) {
  const [type, setType] = useState('');
  const [text, setText] = useState('');
  const types = [...new Set(events.map((event) => event.type))].sort();
  const wanted = text.trim().toLowerCase();
  const found = events.filter(
    (event) => (type === '' || event.type === type) && (wanted === '' || `${event.op} ${event.words}`.toLowerCase().includes(wanted)),
  );
  return (
    <section class="card" id="events" aria-labelledby="title-events">
      <h2 id="title-events">
        Events <small>{number(found.length)} of the latest</small>
      </h2>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <label>
          <span>Type</span>
          <select value={type} onChange={(event) => setType(event.currentTarget.value)}>
            <option value="">all</option>
            {types.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
        <label class="wide">
          <span>Text in operations and descriptions</span>
          <input type="search" autocomplete="off" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
      </form>
      <Table
        label="Events"
        columns={[
          { title: 'No.', isNumber: true },
          { title: 'Time' },
          { title: 'Type' },
          { title: 'Operation' },
          { title: 'What happened' },
        ]}
        rows={found
          .slice(-SHOWN_MAX)
          .toReversed()
          .map((event) => [event.number, event.time, event.type, <code>{event.op}</code>, event.words])}
      />
      {(found.length > SHOWN_MAX || events[0]?.number !== '0') && (
        <p class="muted">
          All events: <code>mlld journal show {run}</code>
        </p>
      )}
    </section>
  );
}
