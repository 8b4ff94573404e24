/** Set by the build from package.json. */
declare const MLLD_VERSION: string | undefined;

export const VERSION = typeof MLLD_VERSION === 'undefined' ? '0.0.0-source' : MLLD_VERSION;
