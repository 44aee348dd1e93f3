export const COMPLETION_SHELLS = ['bash', 'zsh', 'fish'] as const;
export type CompletionShell = (typeof COMPLETION_SHELLS)[number];

/**
 * A script that completes the command line. It knows none of the commands: it asks the program, which has one table of them.
 * @param program the words that start this program; `countersign` takes precedence if it is in the PATH
 */
export function completionScript(shell: CompletionShell, program: readonly string[]): string {
  switch (shell) {
    case 'bash':
      return bash(program.map(quoted).join(' '));
    case 'zsh':
      return zsh(program.map(quoted).join(' '));
    case 'fish':
      return fish(program.map(quotedForFish).join(' '));
  }
}

function bash(program: string): string {
  return `# Completes countersign in bash. In ~/.bashrc: source <(countersign completion bash)
_countersign_program() {
  if type -P countersign > /dev/null; then command countersign "$@"; else ${program} "$@"; fi
}
_countersign() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o default 2> /dev/null
    else
      COMPREPLY+=("\${line%%$'\\t'*}")
    fi
  done < <(_countersign_program completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
}
complete -F _countersign countersign
`;
}

function zsh(program: string): string {
  return `#compdef countersign
# Completes countersign in zsh. In ~/.zshrc, after compinit: source <(countersign completion zsh)
_countersign_program() {
  if whence -p countersign > /dev/null; then command countersign "$@"; else ${program} "$@"; fi
}
_countersign() {
  local line files
  local -a values shown
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      files=1
    else
      values+=("\${line%%$'\\t'*}")
      shown+=("\${line/$'\\t'/  -- }")
    fi
  done < <(_countersign_program completion zsh -- "\${(@Q)words[2,CURRENT]}" 2> /dev/null)
  (( $#values )) && compadd -l -d shown -- $values
  [[ -n $files ]] && _files
  (( $#values )) || [[ -n $files ]]
}
compdef _countersign countersign
`;
}

function fish(program: string): string {
  return `# Completes countersign in fish. In ~/.config/fish/config.fish: countersign completion fish | source
function __countersign_program
    if command -q countersign
        command countersign $argv
    else
        ${program} $argv
    end
end
function __countersign_complete
    set -l before (commandline -opc)
    set -l word (commandline -ct)
    for line in (__countersign_program completion fish -- $before[2..] "$word" 2> /dev/null)
        if test "$line" = :files
            __fish_complete_path "$word"
        else
            echo $line
        end
    end
end
complete -c countersign -f -a '(__countersign_complete)'
`;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function quotedForFish(word: string): string {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
