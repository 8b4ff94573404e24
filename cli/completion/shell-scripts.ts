/**
 * The functions that shells call when Tab is pressed. Each gets candidates from `mlld complete` and hands them to the shell as data.
 *
 * COMPLETION-1 no text of a candidate, and no word that was typed, is ever evaluated: no `eval`, no unquoted expansion. A file or a
 *   checkpoint may have any name.
 * COMPLETION-2 where mlld has no candidate, the shell completes file names.
 */

export type Shell = 'bash' | 'zsh' | 'fish';

/**
 * Bash splits words also at `@`, `:` and `=`, and inserts a candidate as it is. So mlld gets the line as it was typed and the part that
 * bash is going to replace, and writes its candidates quoted for that place. Works in bash 3.2, which macOS has.
 */
const BASH = `# Completion of mlld for bash. In ~/.bashrc: source <(mlld completion bash)
_mlld() {
  local candidate
  COMPREPLY=()
  while IFS= read -r candidate; do
    COMPREPLY+=("$candidate")
  done < <(mlld complete --bash "\${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null </dev/null)
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == */ ]]; then
    compopt -o nospace 2>/dev/null
  fi
}
complete -o default -F _mlld mlld
`;

/** `compadd` quotes what it inserts. */
const ZSH = `#compdef mlld
# Completion of mlld for zsh. In ~/.zshrc, after compinit: source <(mlld completion zsh)
_mlld() {
  local line
  local -a words_here texts shown folders
  words_here=("\${(@Q)words[2,CURRENT]}")
  while IFS= read -r line; do
    if [[ \${line%%$'\\t'*} == */ ]]; then
      folders+=("\${line%%$'\\t'*}")
    else
      texts+=("\${line%%$'\\t'*}")
      shown+=("\${line//$'\\t'/  -- }")
    fi
  done < <(mlld complete -- "\${words_here[@]}" 2>/dev/null </dev/null)
  if (( \${#texts} + \${#folders} == 0 )); then
    _files
    return
  fi
  (( \${#texts} )) && compadd -l -d shown -a -- texts
  (( \${#folders} )) && compadd -S '' -a -- folders
  return 0
}
if [[ \${funcstack[1]} == _mlld ]]; then
  _mlld "$@"
else
  compdef _mlld mlld
fi
`;

/** Fish splits the lines of a command substitution, takes what is behind a tab as the description, and quotes what it inserts. */
const FISH = `# Completion of mlld for fish. In ~/.config/fish/config.fish: mlld completion fish | source
function __mlld_complete
  set -l typed (commandline -opc) (commandline -ct)
  set -l found (mlld complete -- $typed[2..] 2>/dev/null </dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c mlld -f -a '(__mlld_complete)'
`;

export const SHELL_SCRIPTS: { readonly [S in Shell]: string } = { bash: BASH, zsh: ZSH, fish: FISH };
