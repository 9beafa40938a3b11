import type { CompletedShell } from '../../command.ts';
import type { Offer } from './candidates.ts';

/**
 * What a shell runs at its start. Each script asks `muster completion SHELL -- WORDS…` with the words up
 * to the cursor as they are typed: nothing of a line that is not finished yet is evaluated.
 */
export function completionScript(shell: CompletedShell): string {
  return SCRIPTS[shell];
}

/** An offer as the script of the shell reads it: its kind, then a candidate a line. */
export function offerText(shell: CompletedShell, offer: Offer, keptByBash: number): string {
  if (offer.kind !== 'words') return `${offer.kind}\n`;
  const lines = offer.candidates.map(({ text, about }) => {
    switch (shell) {
      case 'bash':
        return `${offer.kept}${text}`.slice(keptByBash);
      case 'zsh':
        return `${text.replaceAll(':', '\\:')}:${oneLine(about)}`;
      default:
        return `${offer.kept}${text}\t${oneLine(about)}`;
    }
  });
  return ['words', ...lines, ''].join('\n');
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

const BASH = `# Completion of muster for bash: eval "$(muster completion bash)" in ~/.bashrc
_muster() {
    local line kind=''
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ -z $kind ]]; then kind=$line; else COMPREPLY+=("$line"); fi
    done < <(muster completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    case $kind in
        files) compopt -o filenames -o default 2>/dev/null ;;
        directories) compopt -o filenames -o dirnames 2>/dev/null ;;
        words) compopt -o nosort 2>/dev/null ;;
    esac
}
complete -F _muster muster
`;

const ZSH = `#compdef muster
# Completion of muster for zsh: eval "$(muster completion zsh)" in ~/.zshrc, behind compinit
_muster() {
    local -a lines
    lines=("\${(@f)$(muster completion zsh -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    local kind=$lines[1]
    lines=("\${(@)lines[2,-1]}")
    [[ $PREFIX == --*=* ]] && compset -P 1 '*='
    case $kind in
        files) _files ;;
        directories) _files -/ ;;
        words) (( $#lines )) && _describe -V muster lines ;;
    esac
}
if [[ $funcstack[1] == _muster ]]; then _muster "$@"; else compdef _muster muster; fi
`;

const FISH = `# Completion of muster for fish: muster completion fish > ~/.config/fish/completions/muster.fish
function __muster_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l lines (muster completion fish -- $words[2..-1] "$typed" 2>/dev/null)
    set -l kept (string match -r -- '^--[^=]*=' "$typed")
    set -l path (string replace -r -- '^--[^=]*=' '' "$typed")
    switch "$lines[1]"
        case files
            for each in (__fish_complete_path "$path")
                echo "$kept$each"
            end
        case directories
            for each in (__fish_complete_directories "$path")
                echo "$kept$each"
            end
        case words
            set -e lines[1]
            printf '%s\\n' $lines
    end
end
complete -c muster -f -k -a '(__muster_complete)'
`;

const SCRIPTS: Readonly<Record<CompletedShell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
