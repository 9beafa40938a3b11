import { mapByName } from '../name-table.ts';
import { parseOptionTable } from '../options/option-table.ts';
import { hasOption, parseCommandArguments, type ParsedArguments } from './arguments.ts';
import { quoteShellWord, provenToRead, notProven } from './proof.ts';
import type { CommandRead, ReadOnlyVerdict, ReadDepth } from './proof.ts';
import type { ShellWord } from '../parsed-line.ts';

/** The kind of the operands: none allowed, text, or paths that the program reads to a certain depth. */
type Operands = 'none' | 'text' | ReadDepth;

interface ProgramRule {
  /** The accepted options, in the syntax of `parseOptionTable`. An option that is not listed may do more than read. */
  readonly options: string;
  readonly operands: Operands;
  /** Options with which the program reads to another depth, and that depth. */
  readonly instead?: { readonly options: readonly string[]; readonly below: ReadDepth };
  /** The maximum number of paths that the program reads. It would write to a further path. */
  readonly maxPaths?: number;
  /** Set if the first operand is a pattern when there is none of these options. */
  readonly pattern?: { readonly unless: readonly string[] };
  /** Tells whether the program reads the working directory if there is no path. */
  readonly readsHere?: (given: ParsedArguments) => boolean;
  /** Finds any other reason why the program may do more than read. */
  readonly check?: (given: ParsedArguments) => string | undefined;
}

const CHECKSUM: ProgramRule = {
  options: '-btz --binary --tag --text --zero',
  operands: 'itself',
};

const GREP: ProgramRule = {
  options:
    '-EFGPivwxcLlqsbHhnoTZzaIrUy -# -e= -m# -A# -B# -C# --extended-regexp --fixed-strings --basic-regexp --perl-regexp --regexp= --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count --color[=] --colour[=] --files-without-match --files-with-matches --max-count# --only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --label= --line-number --initial-tab --null --after-context# --before-context# --context# --text --include= --exclude= --exclude-dir= --recursive --null-data --binary --binary-files= --line-buffered',
  operands: 'itself',
  instead: { options: ['-r', '--recursive'], below: 'contents' },
  pattern: { unless: ['-e', '--regexp'] },
  readsHere: (given) => hasOption(given, '-r', '--recursive'),
};

/**
 * The programs that only read, with their accepted options. Options that write, run programs or follow links out of a
 * tree are left out, and rarely used options too.
 */
const PROGRAMS = mapByName<ProgramRule>({
  ls: {
    options:
      '-aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ1 -I= -w# -T# --all --almost-all --author --escape --block-size= --ignore-backups --color[=] --directory --classify[=] --file-type --format= --full-time --no-group --group-directories-first --human-readable --si --inode --hide= --hyperlink[=] --ignore= --indicator-style= --kibibytes --literal --numeric-uid-gid --quote-name --quoting-style= --reverse --recursive --size --sort= --time= --time-style= --tabsize# --width# --zero',
    operands: 'itself',
    instead: { options: ['-R', '--recursive'], below: 'names' },
    readsHere: () => true,
  },
  cat: {
    options:
      '-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting',
    operands: 'itself',
  },
  'head, tail': {
    options: '-qvz -# -n# -c# --lines# --bytes# --quiet --silent --verbose --zero-terminated',
    operands: 'itself',
  },
  wc: {
    options: '-cmlLw --bytes --chars --lines --max-line-length --words --total=',
    operands: 'itself',
  },
  stat: {
    options: '-Lft -c= --format= --printf= --terse --file-system --dereference',
    operands: 'itself',
  },
  file: {
    options:
      '-bihkLNnr0 -F= --brief --mime --mime-type --mime-encoding --no-dereference --dereference --keep-going --no-pad --separator=',
    operands: 'itself',
  },
  pwd: { options: '-LP', operands: 'none' },
  'true, false, :, whoami': { options: '', operands: 'none' },
  nproc: { options: '--all', operands: 'none' },
  uname: { options: '-asnrvmpio --all --kernel-name --machine', operands: 'none' },
  id: { options: '-ugGnrz --user --group --groups --name --real --zero', operands: 'text' },
  basename: { options: '-az -s= --multiple --suffix= --zero', operands: 'text' },
  dirname: { options: '-z --zero', operands: 'text' },
  which: { options: '-a', operands: 'text' },
  realpath: {
    options:
      '-emLPqsz --canonicalize-existing --canonicalize-missing --logical --physical --quiet --strip --no-symlinks --zero --relative-to@ --relative-base@',
    operands: 'itself',
  },
  readlink: {
    options:
      '-femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet --silent --verbose --zero',
    operands: 'itself',
  },
  cut: {
    options:
      '-snz -b= -c= -d= -f= --bytes= --characters= --delimiter= --fields= --only-delimited --complement --output-delimiter= --zero-terminated',
    operands: 'itself',
  },
  tr: {
    options: '-cCdst --complement --delete --squeeze-repeats --truncate-set1',
    operands: 'text',
  },
  nl: {
    options:
      '-p -b= -d= -f= -h= -i# -l# -n= -s= -v# -w# --body-numbering= --number-format= --number-separator= --number-width# --starting-line-number#',
    operands: 'itself',
  },
  cmp: {
    options: '-bls -i= -n# --print-bytes --verbose --silent --quiet --ignore-initial= --bytes#',
    operands: 'itself',
  },
  diff: {
    options:
      '-abBcdeEinNpqrstTuwyZ -C# -U# -F= -I= -W# -x= --brief --report-identical-files --context[=] --unified[=] --ed --rcs --side-by-side --width# --left-column --suppress-common-lines --show-c-function --show-function-line= --label= --expand-tabs --initial-tab --recursive --new-file --unidirectional-new-file --ignore-file-name-case --exclude= --ignore-case --ignore-tab-expansion --ignore-trailing-space --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-matching-lines= --text --strip-trailing-cr --minimal --color[=]',
    // diff compares the files in directories, with or without -r, and follows links.
    operands: 'followed',
  },
  comm: {
    options: '-123z --check-order --nocheck-order --output-delimiter= --total --zero-terminated',
    operands: 'itself',
  },
  uniq: {
    options:
      '-cdDiuz -f# -s# -w# --count --repeated --all-repeated[=] --group[=] --skip-fields# --ignore-case --skip-chars# --unique --check-chars# --zero-terminated',
    operands: 'itself',
    maxPaths: 1,
  },
  sort: {
    options:
      '-bdfgiMhnRrVcCmsuz -k= -t= --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --random-sort --reverse --sort= --version-sort --check[=] --debug --key= --merge --stable --field-separator= --unique --zero-terminated',
    operands: 'itself',
  },
  column: { options: '-tx -s= -c# --table --separator=', operands: 'itself' },
  tac: { options: '', operands: 'itself' },
  'md5sum, sha1sum, sha256sum, sha512sum': CHECKSUM,
  'grep, egrep, fgrep': GREP,
  rg: {
    options:
      '-iSsvwxclnNoqHIFPUapu0. -e= -g= -t= -T= -A# -B# -C# -m# -M# -j# -r= -d# -E= --regexp= --ignore-case --smart-case --case-sensitive --invert-match --word-regexp --line-regexp --count --count-matches --files-with-matches --files-without-match --line-number --no-line-number --only-matching --quiet --with-filename --no-filename --fixed-strings --pcre2 --multiline --multiline-dotall --text --pretty --unrestricted --null --hidden --glob= --iglob= --type= --type-not= --type-list --after-context# --before-context# --context# --max-count# --max-columns# --max-columns-preview --max-depth# --max-filesize= --threads# --replace= --encoding= --files --sort= --sortr= --color= --colors= --heading --no-heading --column --no-column --vimgrep --trim --passthru --json --stats --no-messages --no-config --no-ignore --no-ignore-vcs --no-ignore-global --no-ignore-parent --no-hidden --crlf --engine= --line-buffered --one-file-system --context-separator= --byte-offset --no-require-git',
    operands: 'contents',
    instead: { options: ['--files'], below: 'names' },
    pattern: { unless: ['-e', '--regexp', '--files', '--type-list'] },
    readsHere: (given) => !hasOption(given, '--type-list'),
  },
  date: {
    options:
      '-uR -I[=] -d= -r@ --utc --universal --iso-8601[=] --rfc-3339= --rfc-email --date= --reference@',
    operands: 'text',
    check: (given) =>
      given.operands.every((word) => word.value?.startsWith('+') === true)
        ? undefined
        : 'an operand without a `+` in front sets the clock',
  },
  du: {
    options:
      '-abchklmsxS0 -d# -B= -t= --null --all --apparent-size --block-size= --bytes --total --max-depth# --human-readable --inodes --one-file-system --separate-dirs --si --summarize --threshold= --time[=] --time-style= --exclude=',
    operands: 'names',
    readsHere: () => true,
  },
  df: {
    options:
      '-ahHiklPT -B= -t= -x= --all --block-size= --human-readable --si --inodes --local --portability --total --type= --print-type --exclude-type= --output[=]',
    operands: 'itself',
  },
});

/** Checks a program of the table with the words after it. Returns undefined if the program is not in the table. */
export function checkProgram(
  name: string,
  words: readonly ShellWord[],
): ReadOnlyVerdict | undefined {
  const rule = PROGRAMS.get(name);
  if (rule === undefined) return undefined;
  const read = parseCommandArguments(words, parseOptionTable(rule.options));
  if (!read.ok) return notProven(read.reason);
  const { parsed } = read;
  const problem = rule.check?.(parsed);
  if (problem !== undefined) return notProven(problem);
  return checkOperands(rule, parsed);
}

function checkOperands(rule: ProgramRule, given: ParsedArguments): ReadOnlyVerdict {
  const paths = listPathOperands(rule, given);
  const extra = rule.maxPaths === undefined ? undefined : paths[rule.maxPaths];
  if (extra !== undefined) return notProven(`it would write to ${quoteShellWord(extra.text)}`);
  switch (rule.operands) {
    case 'none':
      return paths.length === 0
        ? provenToRead([])
        : notProven(`it is not known what it does with ${quoteShellWord(paths[0]?.text ?? '')}`);
    case 'text':
      return provenToRead(given.paths.flatMap((word) => toReads(word, 'itself')));
    default: {
      const { instead } = rule;
      const isOther = instead !== undefined && hasOption(given, ...instead.options);
      const below = isOther ? instead.below : rule.operands;
      const readsWorkingDirectory = paths.length === 0 && rule.readsHere?.(given) === true;
      return provenToRead([
        ...(readsWorkingDirectory ? [{ path: '.', below }] : []),
        ...paths.flatMap((word) => toReads(word, below)),
        ...given.paths.flatMap((word) => toReads(word, 'itself')),
      ]);
    }
  }
}

function listPathOperands(rule: ProgramRule, given: ParsedArguments): readonly ShellWord[] {
  const { pattern } = rule;
  const hasPattern = pattern !== undefined && !hasOption(given, ...pattern.unless);
  return hasPattern ? given.operands.slice(1) : given.operands;
}

/** Returns the read of the path that a word names. `-` is the standard input, and /dev/null is empty. */
function toReads({ path, value }: ShellWord, below: ReadDepth): readonly CommandRead[] {
  return path === null || value === '-' || value === '/dev/null' ? [] : [{ path, below }];
}
