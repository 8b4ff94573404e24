/** Holds the text of a search field, which asks for what it finds when nothing was typed for a while. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface TypedText {
  readonly text: string;
  readonly setText: (text: string) => void;
  /** To be called with a text that is asked for. Returns it. */
  readonly asked: (text: string) => string;
}

/** `shown` is the text that the page shows results of. Where the field asked for it itself, more may have been typed since, which stays. */
export function useTypedText(shown: string): TypedText {
  const [text, setText] = useState(shown);
  const last = useRef(shown);
  useLayoutEffect(() => {
    if (shown !== last.current) setText((last.current = shown));
  }, [shown]);
  return { text, setText, asked: (latest) => (last.current = latest) };
}
