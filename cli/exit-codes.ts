/** The exit statuses of the command. Every `--help` lists those that it may end with. */
import type { Signal } from './terminal/io.js';

export const EXIT_OK = 0;
/** Every error that ends a run, a usage error, a failed validation, a journal with losses. */
export const EXIT_FAILED = 1;
/** `journal diff` could not compare. Its status 1 says that the runs differ. */
export const EXIT_NOT_COMPARED = 2;

/** The replay diverged from the record. */
export const EXIT_DIVERGED = 3;

/** The run is paused: what is left to do waits until it can be recorded. */
export const EXIT_PAUSED = 5;

/** 128 and the number of the signal, as shells report it. */
export const EXIT_AFTER_SIGNAL: { readonly [signal in Signal]: number } = { SIGHUP: 129, SIGINT: 130, SIGPIPE: 141, SIGTERM: 143 };
