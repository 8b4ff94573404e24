/** Copies a text, and says so. */
import { useEffect, useState } from 'preact/hooks';

const SAID_MS = 2000;

export function CopyButton({ text, of, label = 'Copy' }: { readonly text: () => string; readonly of: string; readonly label?: string }) {
  const [said, say] = useState('');
  useEffect(() => {
    if (said === '') return undefined;
    const timer = setTimeout(() => say(''), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = (): void => {
    copyText(text()).then(
      () => say('Copied'),
      () => say('Not allowed'),
    );
  };
  return (
    <button type="button" class="copy" aria-label={said === '' ? `Copy ${of}` : `${said}: ${of}`} onClick={copy}>
      {said === '' ? label : said}
    </button>
  );
}

/** Pages that are opened from a disk may not reach the clipboard in each browser. */
async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch (error) {
    const field = document.createElement('textarea');
    field.value = text;
    document.body.append(field);
    field.select();
    const isCopied = document.execCommand('copy');
    field.remove();
    if (!isCopied) throw error;
  }
}
