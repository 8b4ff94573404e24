/** Shows what the commands of a run are writing. Once a command has ended its result is on the page of its operation. */
import { useEffect, useRef } from 'preact/hooks';
import type { Model } from '../report/model/page-model.js';
import { hashOfCall } from '../report/model/route.js';
import type { Api, CommandOutput } from './api.js';
import { usePolled } from './use-polled.js';

const POLL_MS = 1000;

export function LiveOutput({ api, id, model }: { readonly api: Api; readonly id: string; readonly model: Model }) {
  const { value } = usePolled(
    id,
    () => POLL_MS,
    (signal) => api.output(id, signal),
  );
  if (!value) return null;
  if (!value.executed_here)
    return <p class="notice">Another process executes this run: what its commands write is shown here when they have ended.</p>;
  if (value.commands.length === 0) return null;
  return (
    <section class="card live" aria-labelledby="title-live">
      <h2 id="title-live">In flight now</h2>
      {value.commands.map((command) => (
        <Command key={command.op} command={command} name={nameOf(model, command.op)} />
      ))}
    </section>
  );
}

/** The page of a run may be older than its output. */
function nameOf(model: Model, op: string): string {
  const span = model.report.spans.op.indexOf(op);
  return span < 0 ? op : model.titleOf(span);
}

/** Follows the last line, unless somebody has scrolled away from it. */
function Command({
  command: { op, text, is_cut: isCut, is_withheld: isWithheld },
  name,
}: {
  readonly command: CommandOutput;
  readonly name: string;
}) {
  const lines = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (lines.current && isAtEnd.current) lines.current.scrollTop = lines.current.scrollHeight;
  }, [text]);
  const noteScroll = ({ currentTarget: { scrollTop, scrollHeight, clientHeight } }: preact.TargetedEvent<HTMLPreElement>): void => {
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < 4;
  };
  return (
    <div class="text">
      <h3>
        <a href={hashOfCall(op)}>{name}</a>
      </h3>
      {isWithheld ? (
        <p class="muted">Its output is not shown: a secret went into it.</p>
      ) : text === '' ? (
        <p class="muted">No whole line so far.</p>
      ) : (
        <pre ref={lines} tabIndex={0} role="group" aria-label={`Output of ${name} so far`} onScroll={noteScroll}>
          {isCut && <i class="muted">Earlier lines are left out.{'\n'}</i>}
          {text}
        </pre>
      )}
    </div>
  );
}
