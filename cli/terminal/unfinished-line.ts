/** Ends an unfinished line of output before an error or a warning is printed, which would continue it otherwise. */

type Write = (text: string) => void;

export interface UnfinishedLine {
  readonly stdout: Write;
  readonly stderr: Write;
  /** Ends the line, on stderr: what a script wrote to standard output stays byte for byte what it wrote. */
  readonly end: () => void;
}

/** `oneOutput`: stdout and stderr go to one terminal, file or pipe. Apart, a line of one is not continued by the other. */
export function trackUnfinishedLine({ stdout, stderr, oneOutput }: { stdout: Write; stderr: Write; oneOutput: boolean }): UnfinishedLine {
  let isOpen = false;
  const tracked =
    (write: Write): Write =>
    (text) => {
      write(text);
      if (text !== '') isOpen = !text.endsWith('\n');
    };
  return {
    stdout: oneOutput ? tracked(stdout) : stdout,
    stderr: tracked(stderr),
    end: () => {
      if (isOpen) stderr('\n');
      isOpen = false;
    },
  };
}
