/** Asks a person at a terminal. graph-pipelines.md 12.1. */
import { choiceLine } from '../model/labels.js';
import { textAnswer, type Interviewer } from './interviewer.js';

export interface Terminal {
  write(text: string): void;
  /** Resolves with undefined at the end of the input. */
  readLine(signal: AbortSignal): Promise<string | undefined>;
}

/** Takes the default for an empty line; after a text that fits no choice the question is asked again. */
export function consoleInterviewer({ write, readLine }: Terminal): Interviewer {
  return {
    by: 'console',
    onUnmatched: 'ask-again',
    async ask({ text, options, default: fallback }, signal) {
      write(`\n${text}\n${options.map((option) => `  ${choiceLine(option)}\n`).join('')}`);
      write(fallback === undefined ? '> ' : `(${fallback}) > `);
      const line = await readLine(signal);
      if (line === undefined) return { kind: 'skipped' };
      if (line.trim() !== '') return textAnswer(line);
      return fallback === undefined ? textAnswer('') : textAnswer(fallback);
    },
    inform: (message, stage) => write(`${stage}: ${message}\n`),
  };
}
