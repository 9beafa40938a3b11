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

const PYTHON: ExecutingOptions = {
  executing: ['-c'],
  value: 'code',
  options:
    '-bBdEhiIOPqRsSuvVx -W= -X= -c= -m= --help --version --help-all --help-env --help-xoptions --check-hash-based-pycs=',
  readsStdin: true,
};
const NODE: ExecutingOptions = {
  executing: ['-e', '-p', '-pe', '--eval', '--print'],
  value: 'code',
  options:
    '-chivp -e= -r= -C= --check --eval= --print= --help --version --interactive --require= --import= --loader= --experimental-loader= --input-type= --env-file= --conditions= --inspect[=] --inspect-brk[=] --test --watch --no-warnings --trace-warnings --enable-source-maps --expose-gc --experimental-strip-types --max-old-space-size= --stack-size=',
  readsStdin: true,
};
/** A module can be given as an address that contains its code. */
const NODE_IMPORT: ExecutingOptions = {
  executing: ['--import', '--loader', '--experimental-loader'],
  value: 'code',
  only: /^\s*data:/i,
};
const PERL: ExecutingOptions = {
  executing: ['-e', '-E'],
  value: 'code',
  options:
    '-acfnpstTuUvVwWX -e= -E= -I= -M[=] -m[=] -i[=] -l[=] -0[=] -F[=] -C[=] -D[=] -d[=] -x[=]',
  readsStdin: true,
};
const VIM: ExecutingOptions = { executing: ['-c', '--cmd', '-S', '-s', '-W', '+'], value: 'code' };
const PAGED: ExecutingOptions = { executing: ['--pager'], value: 'script' };
const CALLBACK: ExecutingOptions = { executing: ['-C'], value: 'script' };
const APT: ExecutingOptions = {
  executing: ['-o', '--option'],
  value: 'script',
  only: /^[\w:-]*(?:invoke|install-pkgs|dir::bin)[\w:-]*=(.*)$/is,
};
const SSH_OPTION =
  /^\s*(?:proxycommand|localcommand|knownhostscommand|proxyusefdpass)[\s=]+(.*)$/is;
const TAR: readonly ExecutingOptions[] = [
  {
    executing: [
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
  { executing: ['--checkpoint-action'], value: 'script', only: /^exec=(.*)$/s },
];
const REMOTE_COPY: ExecutingOptions = { executing: ['-S', '-D'], value: 'script' };

/** The options whose values programs run, by the name of the program. */
export const EXECUTING_OPTIONS: ReadonlyMap<string, readonly ExecutingOptions[]> = new Map<
  string,
  readonly ExecutingOptions[]
>([
  ...['tar', 'gtar', 'bsdtar'].map((name) => [name, TAR] as const),
  ['rsync', [{ executing: ['-e', '--rsh', '--rsync-path'], value: 'script' }]],
  ['scp', [REMOTE_COPY, { executing: ['-o'], value: 'script', only: SSH_OPTION }]],
  ['sftp', [REMOTE_COPY, { executing: ['-o'], value: 'script', only: SSH_OPTION }]],
  ['ssh', [{ executing: ['-o'], value: 'script', only: SSH_OPTION }]],
  ['sort', [{ executing: ['--compress-program'], value: 'script' }]],
  ['split', [{ executing: ['--filter'], value: 'script' }]],
  ['rg', [{ executing: ['--pre', '--hostname-bin'], value: 'script' }]],
  ['man', [{ executing: ['-P', '-H', '--pager', '--html'], value: 'script' }]],
  ['zip', [{ executing: ['-TT', '--unzip-command'], value: 'script' }]],
  ['less', [{ executing: ['+'], value: 'code' }]],
  [
    'wget',
    [
      { executing: ['--use-askpass'], value: 'script' },
      { executing: ['-e', '--execute'], value: 'script', only: /^\s*use_?askpass\s*=(.*)$/is },
    ],
  ],
  ...['ag', 'ack', 'bat', 'batcat'].map((name) => [name, [PAGED]] as const),
  ...['apt', 'apt-get'].map((name) => [name, [APT]] as const),
  ['dpkg', [{ executing: ['--pre-invoke', '--post-invoke'], value: 'script' }]],
  ['install', [{ executing: ['--strip-program'], value: 'script' }]],
  ['cpio', [{ executing: ['--rsh-command'], value: 'script' }]],
  ['tcpdump', [{ executing: ['-z'], value: 'script' }]],
  ['helm', [{ executing: ['--post-renderer'], value: 'script' }]],
  ['ansible', [{ executing: ['-a', '--args'], value: 'script' }]],
  ['vagrant', [{ executing: ['-c', '--command'], value: 'script' }]],
  ['gcloud', [{ executing: ['--command'], value: 'script' }]],
  ['go', [{ executing: ['-exec', '-toolexec', '-vettool'], value: 'script' }]],
  ['make', [{ executing: ['--eval'], value: 'code' }]],
  ['gmake', [{ executing: ['--eval'], value: 'code' }]],
  ['nodemon', [{ executing: ['-x', '--exec'], value: 'script' }]],
  ['just', [{ executing: ['--command'], value: 'script' }]],
  ['nc', [{ executing: ['-e', '-c'], value: 'script' }]],
  ['ncat', [{ executing: ['-e', '-c', '--exec', '--sh-exec'], value: 'script' }]],
  ...['mapfile', 'readarray', 'compgen', 'complete'].map((name) => [name, [CALLBACK]] as const),
  [
    'hyperfine',
    [
      {
        executing: ['-p', '-c', '-s', '--prepare', '--cleanup', '--setup', '--conclude'],
        value: 'script',
      },
    ],
  ],
  ['npm', [{ executing: ['--script-shell'], value: 'script' }]],
  ['pnpm', [{ executing: ['--script-shell'], value: 'script' }]],
  ['cargo', [{ executing: ['--config'], value: 'code' }]],
  ['hg', [{ executing: ['--config'], value: 'code' }]],
  ['nix-shell', [{ executing: ['--run', '--command'], value: 'script' }]],
  [
    'gdb',
    [
      {
        executing: [
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
  ['lldb', [{ executing: ['-o', '-O', '-s', '-S', '--one-line', '--source'], value: 'code' }]],
  ['expect', [{ executing: ['-c'], value: 'code' }]],
  ['ipython', [{ executing: ['-c'], value: 'code' }]],
  ['ts-node', [{ executing: ['-e', '-p', '--eval', '--print'], value: 'code' }]],
  ['R', [{ executing: ['-e'], value: 'code' }]],
  ['octave', [{ executing: ['--eval'], value: 'code' }]],
  ['gnuplot', [{ executing: ['-e'], value: 'code' }]],
  ['clojure', [{ executing: ['-e', '--eval'], value: 'code' }]],
  ['scala', [{ executing: ['-e'], value: 'code' }]],
  [
    'emacs',
    [{ executing: ['-f', '-l', '--eval', '--execute', '--load', '--funcall'], value: 'code' }],
  ],
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
        executing: ['-r', '-B', '-R', '-E'],
        value: 'code',
        options: '-aCHilmnqsvw -r= -B= -R= -E= -F= -f= -c= -d= -z= -t= -S=',
      },
    ],
  ],
  ['lua', [{ executing: ['-e'], value: 'code', options: '-iEvW -e= -l=', readsStdin: true }]],
  [
    'bun',
    [
      {
        executing: ['-e', '-p', '--eval', '--print'],
        value: 'code',
        options:
          '-biv -c= -e= -p= -r= --cwd= --config= --eval= --print= --bun --watch --hot --silent --env-file=',
      },
    ],
  ],
  ['Rscript', [{ executing: ['-e'], value: 'code' }]],
  ['julia', [{ executing: ['-e', '-E', '--eval', '--print'], value: 'code' }]],
  ['elixir', [{ executing: ['-e', '--eval', '--rpc-eval'], value: 'code' }]],
  ['erl', [{ executing: ['-eval'], value: 'code' }]],
  ['osascript', [{ executing: ['-e'], value: 'code' }]],
  ['groovy', [{ executing: ['-e'], value: 'code' }]],
  [
    'pwsh',
    [{ executing: ['-c', '-Command', '-EncodedCommand', '-e', '-ec', '--command'], value: 'code' }],
  ],
]);
