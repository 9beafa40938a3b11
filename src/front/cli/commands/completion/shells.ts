import { collapseWhitespace } from '../../../../base/text.ts';
import type { Offer } from './candidates.ts';
import type { CompletedShell } from '../../completion-values.ts';

/**
 * Returns the script that a shell runs at its start. It calls `muster completion SHELL -- WORDS…` with the words
 * as they are typed: nothing of an unfinished line is evaluated.
 */
export function completionScript(shell: CompletedShell): string {
  return SCRIPTS[shell];
}

/** Formats an offer for the script of a shell: first the kind of paths (or `words` for no paths), then one candidate on each line. */
export function offerText(shell: CompletedShell, { paths, prefix, candidates }: Offer): string {
  const lines = candidates.map(({ text, about }) => {
    switch (shell) {
      case 'bash':
        return `${prefix}${text}`;
      case 'zsh':
        return `${text.replaceAll(':', '\\:')}:${collapseWhitespace(about)}`;
      case 'fish':
        return `${prefix}${text}\t${collapseWhitespace(about)}`;
      default:
        return shell satisfies never;
    }
  });
  return [paths ?? 'words', ...lines, ''].join('\n');
}

/**
 * Bash splits words at the characters of COMP_WORDBREAKS, and a reply replaces only the last piece. The script
 * joins pieces without a blank between them to one word again, and leaves out its first `kept` characters.
 */
const BASH = `# Completion of muster for bash: eval "$(muster completion bash)" in ~/.bashrc
_muster() {
    local IFS=$' \\t\\n' rest=$COMP_LINE piece line kind='' kept
    local -a words=() found=()
    for piece in "\${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        if [[ \${#words[@]} -gt 0 && -n $piece && $rest == "$piece"* ]]; then
            words[\${#words[@]}-1]+=$piece
        else
            words+=("$piece")
        fi
        rest=\${rest#*"$piece"}
    done
    piece=\${COMP_WORDS[COMP_CWORD]}
    [[ $piece == [=:@]* && $COMP_WORDBREAKS == *"\${piece:0:1}"* ]] && piece=''
    line=\${words[\${#words[@]}-1]}
    kept=$((\${#line} - \${#piece}))
    while IFS= read -r line; do
        if [[ -z $kind ]]; then kind=$line; else found+=("\${line:kept}"); fi
    done < <(muster completion bash -- "\${words[@]:1}" </dev/null 2>/dev/null)
    COMPREPLY=()
    case $kind in
        words) compopt -o nosort 2>/dev/null ;;
        files) compopt -o filenames -o default 2>/dev/null ;;
        directories) compopt -o filenames -o dirnames 2>/dev/null ;;
        *) return ;;
    esac
    [[ \${#found[@]} -eq 0 ]] || COMPREPLY=("\${found[@]}")
}
complete -F _muster muster
`;

const ZSH = `#compdef muster
# Completion of muster for zsh: eval "$(muster completion zsh)" in ~/.zshrc, after compinit;
# or, as a file named _muster, in a directory of $fpath
_muster() {
    local -a lines
    lines=("\${(@f)$(muster completion zsh -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" </dev/null 2>/dev/null)}")
    local kind=$lines[1]
    lines=("\${(@)lines[2,-1]}")
    [[ $PREFIX == --*=* ]] && compset -P 1 '*='
    case $kind in
        words) ;;
        files) _files ;;
        directories) _files -/ ;;
        *) return 1 ;;
    esac
    (( $#lines )) && _describe -V value lines
}
if [[ $funcstack[1] == _muster ]]; then
    _muster "$@"
elif (( $+functions[compdef] )); then
    compdef _muster muster
else
    print -u2 'completion of muster: run compinit before it'
fi
`;

const FISH = `# Completion of muster for fish: muster completion fish > ~/.config/fish/completions/muster.fish
function __muster_complete
    type -q muster; or return
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l lines
    set lines (muster completion fish -- $words[2..-1] "$typed" </dev/null 2>/dev/null)
    set -l prefix (string match -r -- '^--[^=]*=' "$typed")
    set -l path (string replace -r -- '^--[^=]*=' '' "$typed")
    switch "$lines[1]"
        case words
        case files
            for each in (__fish_complete_path "$path")
                printf '%s\\n' "$prefix$each"
            end
        case directories
            for each in (__fish_complete_directories "$path")
                printf '%s\\n' "$prefix$each"
            end
        case '*'
            return
    end
    set -e lines[1]
    test (count $lines) -eq 0; or printf '%s\\n' $lines
end
complete -c muster -f -k -a '(__muster_complete)'
`;

const SCRIPTS: Readonly<Record<CompletedShell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };

/** Removes the quotes that a shell leaves in the words: bash leaves all quotes, fish only the quotes of the last word. */
export function typedWords(shell: CompletedShell, words: readonly string[]): readonly string[] {
  switch (shell) {
    case 'bash':
      return words.map(unquoted);
    case 'fish':
      return words.map((word, index) => (index === words.length - 1 ? unquoted(word) : word));
    case 'zsh':
      return words;
    default:
      return shell satisfies never;
  }
}

/** Removes quotes as a POSIX shell does. The last quote need not be closed. Nothing is evaluated. */
export function unquoted(word: string): string {
  let text = '';
  let quote: '"' | "'" | null = null;
  for (let at = 0; at < word.length; at += 1) {
    const char = word.charAt(at);
    const next = word.charAt(at + 1);
    if (char === '\\' && quote !== "'" && (quote === null || '$`"\\'.includes(next))) {
      text += next;
      at += 1;
    } else if (char === quote) quote = null;
    else if (quote === null && (char === '"' || char === "'")) quote = char;
    else text += char;
  }
  return text;
}
