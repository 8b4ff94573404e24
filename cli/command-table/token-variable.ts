/** Holds the token of `mlld serve`. */
export const TOKEN_VARIABLE = 'MLLD_SERVE_TOKEN';
