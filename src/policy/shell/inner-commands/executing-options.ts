import { mapByName } from '../name-table.ts';

/** Options of a program whose values it runs. */
export interface ExecutingOptions {
  /** These options, with their dashes. Beginnings of long options match, too. */
  readonly executing: readonly string[];
  /** True if the value is a command line, or code in the language of the program. */
  readonly value: 'script' | 'code';
  /** For a program whose options end at the first operand: all its options, as `parseOptionTable` reads them. */
  readonly options?: string;
  /** If set, only values that match are run; the group is the part that runs. */
  readonly only?: RegExp;
  /** True if the program runs its standard input if it has no operand. */
  readonly readsStdin?: true;
  /** True if the first word may consist of option letters without a dash. */
  readonly hasOldBundles?: true;
}

/** Creates the options whose values a shell runs, from their names, separated by blanks. */
function script(names: string): ExecutingOptions {
  return { executing: names.split(' '), value: 'script' };
}

/** Creates the options whose values are code for the program, from their names, separated by blanks. */
function code(names: string): ExecutingOptions {
  return { executing: names.split(' '), value: 'code' };
}

const PYTHON: ExecutingOptions = {
  ...code('-c'),
  options:
    '-bBdEhiIOPqRsSuvVx -W= -X= -c= -m= --help --version --help-all --help-env --help-xoptions --check-hash-based-pycs=',
  readsStdin: true,
};
const NODE: ExecutingOptions = {
  ...code('-e -p -pe --eval --print'),
  options:
    '-chivp -e= -r= -C= --check --eval= --print= --help --version --interactive --require= --import= --loader= --experimental-loader= --input-type= --env-file= --conditions= --inspect[=] --inspect-brk[=] --test --watch --no-warnings --trace-warnings --enable-source-maps --expose-gc --experimental-strip-types --max-old-space-size= --stack-size=',
  readsStdin: true,
};
/** A module can be given as an address that contains its code. */
const NODE_IMPORT: ExecutingOptions = {
  ...code('--import --loader --experimental-loader'),
  only: /^\s*data:/i,
};
const PERL: ExecutingOptions = {
  ...code('-e -E'),
  options:
    '-acfnpstTuUvVwWX -e= -E= -I= -M[=] -m[=] -i[=] -l[=] -0[=] -F[=] -C[=] -D[=] -d[=] -x[=]',
  readsStdin: true,
};
const APT: ExecutingOptions = {
  ...script('-o --option'),
  only: /^[\w:-]*(?:invoke|install-pkgs|dir::bin)[\w:-]*=(.*)$/is,
};
const SSH: ExecutingOptions = {
  ...script('-o'),
  only: /^\s*(?:proxycommand|localcommand|knownhostscommand|proxyusefdpass)[\s=]+(.*)$/is,
};
const TAR: readonly ExecutingOptions[] = [
  {
    ...script(
      '-I -F --use-compress-program --to-command --info-script --new-volume-script --rmt-command --rsh-command',
    ),
    hasOldBundles: true,
  },
  { ...script('--checkpoint-action'), only: /^exec=(.*)$/s },
];

/** The options whose values programs run, by the name of the program. */
export const EXECUTING_OPTIONS = mapByName<readonly ExecutingOptions[]>({
  'tar, gtar, bsdtar': TAR,
  rsync: [script('-e --rsh --rsync-path')],
  'scp, sftp': [script('-S -D'), SSH],
  ssh: [SSH],
  sort: [script('--compress-program')],
  split: [script('--filter')],
  rg: [script('--pre --hostname-bin')],
  man: [script('-P -H --pager --html')],
  zip: [script('-TT --unzip-command')],
  less: [code('+')],
  wget: [
    script('--use-askpass'),
    { ...script('-e --execute'), only: /^\s*use_?askpass\s*=(.*)$/is },
  ],
  'ag, ack, bat, batcat': [script('--pager')],
  'apt, apt-get': [APT],
  dpkg: [script('--pre-invoke --post-invoke')],
  install: [script('--strip-program')],
  cpio: [script('--rsh-command')],
  tcpdump: [script('-z')],
  helm: [script('--post-renderer')],
  ansible: [script('-a --args')],
  vagrant: [script('-c --command')],
  'gcloud, just': [script('--command')],
  go: [script('-exec -toolexec -vettool')],
  'make, gmake, octave': [code('--eval')],
  nodemon: [script('-x --exec')],
  nc: [script('-e -c')],
  ncat: [script('-e -c --exec --sh-exec')],
  'mapfile, readarray, compgen, complete': [script('-C')],
  hyperfine: [script('-p -c -s --prepare --cleanup --setup --conclude')],
  'npm, pnpm': [script('--script-shell')],
  'cargo, hg': [code('--config')],
  'nix-shell': [script('--run --command')],
  gdb: [code('-ex -x --args -iex --command --eval-command --init-eval-command')],
  lldb: [code('-o -O -s -S --one-line --source')],
  'expect, ipython': [code('-c')],
  'ts-node': [code('-e -p --eval --print')],
  'R, gnuplot, scala, Rscript, osascript, groovy': [code('-e')],
  clojure: [code('-e --eval')],
  emacs: [code('-f -l --eval --execute --load --funcall')],
  'vim, vi, nvim, view, ex, gvim, vimdiff': [code('-c --cmd -S -s -W +')],
  'python, pypy': [PYTHON],
  'node, nodejs': [NODE, NODE_IMPORT],
  tsx: [NODE],
  perl: [PERL],
  ruby: [
    {
      ...PERL,
      options: '-acnpsSvwyW -e= -E= -I= -r= -C= -i[=] -l -0[=] -F[=] -x[=] --version --help',
    },
  ],
  php: [
    {
      ...code('-r -B -R -E'),
      options: '-aCHilmnqsvw -r= -B= -R= -E= -F= -f= -c= -d= -z= -t= -S=',
    },
  ],
  lua: [{ ...code('-e'), options: '-iEvW -e= -l=', readsStdin: true }],
  bun: [
    {
      ...code('-e -p --eval --print'),
      options:
        '-biv -c= -e= -p= -r= --cwd= --config= --eval= --print= --bun --watch --hot --silent --env-file=',
    },
  ],
  julia: [code('-e -E --eval --print')],
  elixir: [code('-e --eval --rpc-eval')],
  erl: [code('-eval')],
  pwsh: [code('-c -Command -EncodedCommand -e -ec --command')],
});
