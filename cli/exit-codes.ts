/** What the command's exit status says. */
import type { Signal } from './terminal/io.js';

export const EXIT_OK = 0;
/** Every error that ends a run, a usage error, a failed validation, a journal with losses. */
export const EXIT_FAILED = 1;
/** `journal diff` could not compare: there 1 says that the runs differ. */
export const EXIT_NOT_COMPARED = 2;

/** A replay that left its record. */
export const EXIT_DIVERGED = 3;

/** Paused: what is left to do waits until it can be recorded. */
export const EXIT_PAUSED = 5;

/** As the shells say it: 128 and the number of the signal. */
export const EXIT_AFTER_SIGNAL: { readonly [signal in Signal]: number } = { SIGHUP: 129, SIGINT: 130, SIGPIPE: 141, SIGTERM: 143 };
