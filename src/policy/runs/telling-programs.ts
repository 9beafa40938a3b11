/** A program with options whose value it runs. */
export interface TellingProgram {
  /** These options, with their dashes. Long ones are also known by their first letters. */
  readonly tells: readonly string[];
  /** Whether the value is a command line, or code in a language of the program. */
  readonly value: 'script' | 'code';
  /** Where the options end with the first operand: all of them, as `optionTable` spells them. */
  readonly options?: string;
  /** Only values that match this are run: the group is the part that is. */
  readonly only?: RegExp;
  /** Whether without an operand it runs what comes on stdin. */
  readonly readsStdin?: true;
  /** Whether the first word may be letters of options without a dash. */
  readonly hasOldBundles?: true;
}

const PYTHON: TellingProgram = {
  tells: ['-c'],
  value: 'code',
  options:
    '-bBdEhiIOPqRsSuvVx -W= -X= -c= -m= --help --version --help-all --help-env --help-xoptions --check-hash-based-pycs=',
  readsStdin: true,
};
const NODE: TellingProgram = {
  tells: ['-e', '-p', '-pe', '--eval', '--print'],
  value: 'code',
  options:
    '-chivp -e= -r= -C= --check --eval= --print= --help --version --interactive --require= --import= --loader= --experimental-loader= --input-type= --env-file= --conditions= --inspect[=] --inspect-brk[=] --test --watch --no-warnings --trace-warnings --enable-source-maps --expose-gc --experimental-strip-types --max-old-space-size= --stack-size=',
  readsStdin: true,
};
/** A module may be given as an address that holds its code. */
const NODE_IMPORT: TellingProgram = {
  tells: ['--import', '--loader', '--experimental-loader'],
  value: 'code',
  only: /^\s*data:/i,
};
const PERL: TellingProgram = {
  tells: ['-e', '-E'],
  value: 'code',
  options:
    '-acfnpstTuUvVwWX -e= -E= -I= -M[=] -m[=] -i[=] -l[=] -0[=] -F[=] -C[=] -D[=] -d[=] -x[=]',
  readsStdin: true,
};
const VIM: TellingProgram = { tells: ['-c', '--cmd', '-S', '-s', '-W', '+'], value: 'code' };
const PAGED: TellingProgram = { tells: ['--pager'], value: 'script' };
const CALLBACK: TellingProgram = { tells: ['-C'], value: 'script' };
const APT: TellingProgram = {
  tells: ['-o', '--option'],
  value: 'script',
  only: /^[\w:-]*(?:invoke|install-pkgs|dir::bin)[\w:-]*=(.*)$/is,
};
const SSH_OPTION =
  /^\s*(?:proxycommand|localcommand|knownhostscommand|proxyusefdpass)[\s=]+(.*)$/is;
const TAR: readonly TellingProgram[] = [
  {
    tells: [
      '-I',
      '-F',
      '--use-compress-program',
      '--to-command',
      '--info-script',
      '--new-volume-script',
      '--rmt-command',
      '--rsh-command',
    ],
    value: 'script',
    hasOldBundles: true,
  },
  { tells: ['--checkpoint-action'], value: 'script', only: /^exec=(.*)$/s },
];
const REMOTE_COPY: TellingProgram = { tells: ['-S', '-D'], value: 'script' };

/** Programs by their names, with their options that tell them to run something. */
export const TELLING_PROGRAMS: ReadonlyMap<string, readonly TellingProgram[]> = new Map<
  string,
  readonly TellingProgram[]
>([
  ...['tar', 'gtar', 'bsdtar'].map((name) => [name, TAR] as const),
  ['rsync', [{ tells: ['-e', '--rsh', '--rsync-path'], value: 'script' }]],
  ['scp', [REMOTE_COPY, { tells: ['-o'], value: 'script', only: SSH_OPTION }]],
  ['sftp', [REMOTE_COPY, { tells: ['-o'], value: 'script', only: SSH_OPTION }]],
  ['ssh', [{ tells: ['-o'], value: 'script', only: SSH_OPTION }]],
  ['sort', [{ tells: ['--compress-program'], value: 'script' }]],
  ['split', [{ tells: ['--filter'], value: 'script' }]],
  ['rg', [{ tells: ['--pre', '--hostname-bin'], value: 'script' }]],
  ['man', [{ tells: ['-P', '-H', '--pager', '--html'], value: 'script' }]],
  ['zip', [{ tells: ['-TT', '--unzip-command'], value: 'script' }]],
  ['less', [{ tells: ['+'], value: 'code' }]],
  [
    'wget',
    [
      { tells: ['--use-askpass'], value: 'script' },
      { tells: ['-e', '--execute'], value: 'script', only: /^\s*use_?askpass\s*=(.*)$/is },
    ],
  ],
  ...['ag', 'ack', 'bat', 'batcat'].map((name) => [name, [PAGED]] as const),
  ...['apt', 'apt-get'].map((name) => [name, [APT]] as const),
  ['dpkg', [{ tells: ['--pre-invoke', '--post-invoke'], value: 'script' }]],
  ['install', [{ tells: ['--strip-program'], value: 'script' }]],
  ['cpio', [{ tells: ['--rsh-command'], value: 'script' }]],
  ['tcpdump', [{ tells: ['-z'], value: 'script' }]],
  ['helm', [{ tells: ['--post-renderer'], value: 'script' }]],
  ['ansible', [{ tells: ['-a', '--args'], value: 'script' }]],
  ['vagrant', [{ tells: ['-c', '--command'], value: 'script' }]],
  ['gcloud', [{ tells: ['--command'], value: 'script' }]],
  ['go', [{ tells: ['-exec', '-toolexec', '-vettool'], value: 'script' }]],
  ['make', [{ tells: ['--eval'], value: 'code' }]],
  ['gmake', [{ tells: ['--eval'], value: 'code' }]],
  ['nodemon', [{ tells: ['-x', '--exec'], value: 'script' }]],
  ['just', [{ tells: ['--command'], value: 'script' }]],
  ['nc', [{ tells: ['-e', '-c'], value: 'script' }]],
  ['ncat', [{ tells: ['-e', '-c', '--exec', '--sh-exec'], value: 'script' }]],
  ...['mapfile', 'readarray', 'compgen', 'complete'].map((name) => [name, [CALLBACK]] as const),
  [
    'hyperfine',
    [
      {
        tells: ['-p', '-c', '-s', '--prepare', '--cleanup', '--setup', '--conclude'],
        value: 'script',
      },
    ],
  ],
  ['npm', [{ tells: ['--script-shell'], value: 'script' }]],
  ['pnpm', [{ tells: ['--script-shell'], value: 'script' }]],
  ['cargo', [{ tells: ['--config'], value: 'code' }]],
  ['hg', [{ tells: ['--config'], value: 'code' }]],
  ['nix-shell', [{ tells: ['--run', '--command'], value: 'script' }]],
  [
    'gdb',
    [
      {
        tells: [
          '-ex',
          '-x',
          '--args',
          '-iex',
          '--command',
          '--eval-command',
          '--init-eval-command',
        ],
        value: 'code',
      },
    ],
  ],
  ['lldb', [{ tells: ['-o', '-O', '-s', '-S', '--one-line', '--source'], value: 'code' }]],
  ['expect', [{ tells: ['-c'], value: 'code' }]],
  ['ipython', [{ tells: ['-c'], value: 'code' }]],
  ['ts-node', [{ tells: ['-e', '-p', '--eval', '--print'], value: 'code' }]],
  ['R', [{ tells: ['-e'], value: 'code' }]],
  ['octave', [{ tells: ['--eval'], value: 'code' }]],
  ['gnuplot', [{ tells: ['-e'], value: 'code' }]],
  ['clojure', [{ tells: ['-e', '--eval'], value: 'code' }]],
  ['scala', [{ tells: ['-e'], value: 'code' }]],
  ['emacs', [{ tells: ['-f', '-l', '--eval', '--execute', '--load', '--funcall'], value: 'code' }]],
  ...['vim', 'vi', 'nvim', 'view', 'ex', 'gvim', 'vimdiff'].map((name) => [name, [VIM]] as const),
  ['python', [PYTHON]],
  ['pypy', [PYTHON]],
  ['node', [NODE, NODE_IMPORT]],
  ['nodejs', [NODE, NODE_IMPORT]],
  ['tsx', [{ ...NODE, readsStdin: true }]],
  ['perl', [PERL]],
  [
    'ruby',
    [
      {
        ...PERL,
        options: '-acnpsSvwyW -e= -E= -I= -r= -C= -i[=] -l -0[=] -F[=] -x[=] --version --help',
      },
    ],
  ],
  [
    'php',
    [
      {
        tells: ['-r', '-B', '-R', '-E'],
        value: 'code',
        options: '-aCHilmnqsvw -r= -B= -R= -E= -F= -f= -c= -d= -z= -t= -S=',
      },
    ],
  ],
  ['lua', [{ tells: ['-e'], value: 'code', options: '-iEvW -e= -l=', readsStdin: true }]],
  [
    'bun',
    [
      {
        tells: ['-e', '-p', '--eval', '--print'],
        value: 'code',
        options:
          '-biv -c= -e= -p= -r= --cwd= --config= --eval= --print= --bun --watch --hot --silent --env-file=',
      },
    ],
  ],
  ['Rscript', [{ tells: ['-e'], value: 'code' }]],
  ['julia', [{ tells: ['-e', '-E', '--eval', '--print'], value: 'code' }]],
  ['elixir', [{ tells: ['-e', '--eval', '--rpc-eval'], value: 'code' }]],
  ['erl', [{ tells: ['-eval'], value: 'code' }]],
  ['osascript', [{ tells: ['-e'], value: 'code' }]],
  ['groovy', [{ tells: ['-e'], value: 'code' }]],
  [
    'pwsh',
    [{ tells: ['-c', '-Command', '-EncodedCommand', '-e', '-ec', '--command'], value: 'code' }],
  ],
]);
