/** Shows a text of the run with its title and a button that copies it. */
import type { ShownPayload } from '../model/page-model.js';
import { number } from '../model/verdict-words.js';
import { CopyButton } from './copy-button.js';

export function TextBlock({ title, shown }: { readonly title: string; readonly shown: ShownPayload }) {
  if ('missing' in shown)
    return (
      <div class="text">
        <h3>{title}</h3>
        <p class="muted">Not shown: {shown.missing}.</p>
      </div>
    );
  return (
    <div class="text">
      <div class="row">
        <h3>{title}</h3>
        <CopyButton text={() => shown.text} of={title} />
      </div>
      <pre tabIndex={0} role="group" aria-label={title}>
        {shown.text === '' ? <i class="muted">empty</i> : shown.text}
      </pre>
      {shown.more > 0 && <p class="muted">{number(shown.more)} more characters are in the journal.</p>}
    </div>
  );
}

/** A command to be copied into a shell. */
export function Command({ command, does }: { readonly command: string; readonly does: string }) {
  return (
    <div class="command">
      <code>{command}</code>
      <CopyButton text={() => command} of={`the command: ${does}`} />
      <span class="muted">{does}</span>
    </div>
  );
}
