/** Lists the words of the language in one place, for messages and for editors. */

/** Words that begin a statement, including those of the top level of a file. */
export const statementWords = [
  'var',
  'let',
  'exe',
  'show',
  'run',
  'log',
  'output',
  'append',
  'file',
  'files',
  'stream',
  'if',
  'when',
  'for',
  'foreach',
  'loop',
  'bail',
  'done',
  'continue',
  'import',
  'export',
  'needs',
  'hook',
  'guard',
  'checkpoint',
] as const;

/** Statements of the language family that this runtime does not have. */
export const foreignWords = ['policy', 'auth', 'box', 'env', 'profiles', 'sign', 'verify'] as const;

/** Statements that are allowed only at the top level of a file. */
export const topLevelWords = ['exe', 'import', 'export', 'needs', 'hook', 'guard'] as const;

/** Names that a script cannot declare (values.md 13). */
export const reservedNames = ['now', 'root', 'base', 'input', 'debug', 'keychain', 'mx'] as const;

/** Built-in stages (values.md 11.3). A script may redefine them. */
export const transformerNames = [
  'upper',
  'lower',
  'trim',
  'parse',
  'json',
  'xml',
  'csv',
  'md',
  'pretty',
  'sort',
  'typeof',
  'exists',
] as const;
