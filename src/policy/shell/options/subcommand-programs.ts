import { mapByName } from '../name-table.ts';

/** A program that takes options before its subcommand. */
export interface SubcommandProgram {
  /** The options before the subcommand, in the syntax of `parseOptionTable`. */
  readonly options: string;
  /**
   * The neutral options: they change at most the output, and neither what the subcommand does nor the directory in
   * which it runs. The value is true if every value of the option is neutral, and otherwise a pattern for the neutral
   * values.
   */
  readonly neutralOptions?: Readonly<Record<string, true | RegExp>>;
  /** True if `+nightly` before the subcommand chooses a toolchain. */
  readonly toolchain?: true;
  /** True if long options have one dash, as in `-chdir=x`. */
  readonly singleDash?: true;
  /** True if every operand can be a target, in any position: `make VAR=1 build deploy`. */
  readonly everyOperand?: true;
}

/** Matches paths of the working directory, in which the program runs anyway. */
const WORKING_DIRECTORY = /^\.(?:\/+\.)*\/*$/;
const COLOR = /^(?:always|never|auto|true|false)$/;

/** Creates the entries of options that are neutral with every value, from their names, separated by blanks. */
function always(options: string): Readonly<Record<string, true>> {
  return Object.fromEntries(options.split(' ').map((option) => [option, true]));
}

const NPM: SubcommandProgram = {
  options:
    '-sdqgflaySDEOB -C= -w= -L= --prefix= --loglevel= --registry= --userconfig= --globalconfig= --cache= --workspace= --tag= --access= --otp= --scope= --include= --omit= --script-shell= --node-options= --location= --silent --quiet --verbose --global --force --long --yes --json --dry-run --offline --prefer-offline --workspaces --include-workspace-root --ignore-scripts --no-audit --no-fund --no-color --color[=] --no-progress --no-save --no-workspaces --no-package-lock --no-update-notifier --legacy-peer-deps --version --help',
  neutralOptions: {
    ...always(
      '-s -q --silent --quiet --verbose --loglevel --no-color --no-progress --no-fund --no-update-notifier',
    ),
    '-C': WORKING_DIRECTORY,
    '--prefix': WORKING_DIRECTORY,
    '--color': COLOR,
  },
};

const PIP: SubcommandProgram = {
  options:
    '-qvhV --quiet --verbose --isolated --require-virtualenv --no-input --debug --disable-pip-version-check --no-color --no-cache-dir --no-python-version-warning --version --help --python= --log= --proxy= --timeout= --retries= --exists-action= --trusted-host= --cert= --client-cert= --cache-dir= --keyring-provider= --use-feature= --use-deprecated=',
  neutralOptions: always('-q -v --quiet --verbose --no-color --disable-pip-version-check'),
};

const DOCKER: SubcommandProgram = {
  options:
    '-Dv -H= -c= -l= --config= --context= --host= --log-level= --tls --tlscacert= --tlscert= --tlskey= --tlsverify --debug --version',
  neutralOptions: { '-l': true, '--log-level': true },
};

const COMPOSE: SubcommandProgram = {
  options:
    '-f= -p= -v --file= --project-name= --project-directory= --env-file= --profile= --ansi= --progress= --parallel# --compatibility --dry-run --all-resources --version',
};

const KUBECTL: SubcommandProgram = {
  options:
    '-n= -s= -v= --namespace= --context= --cluster= --user= --kubeconfig= --server= --token= --as= --as-group= --as-uid= --cache-dir= --certificate-authority= --client-certificate= --client-key= --request-timeout= --tls-server-name= --username= --password= --profile= --profile-output= --log-flush-frequency= --vmodule= --match-server-version --insecure-skip-tls-verify --disable-compression --warnings-as-errors',
  neutralOptions: { '-v': true },
};

const TERRAFORM: SubcommandProgram = {
  options: '--chdir= --help --version',
  neutralOptions: { '--chdir': WORKING_DIRECTORY },
  singleDash: true,
};

const MAKE: SubcommandProgram = {
  options:
    '-BbdeikLmnpqRrsStvw -C= -f= -I= -o= -W= -E= -j[=] -l[=] -O[=] --directory= --file= --makefile= --include-dir= --old-file= --assume-old= --what-if= --new-file= --assume-new= --eval= --jobs[=] --load-average[=] --output-sync[=] --always-make --debug[=] --environment-overrides --ignore-errors --keep-going --no-keep-going --just-print --dry-run --recon --question --no-builtin-rules --no-builtin-variables --silent --quiet --no-silent --stop --touch --trace --print-data-base --print-directory --no-print-directory --check-symlink-times --warn-undefined-variables --version --help',
  neutralOptions: {
    ...always('-s -w --silent --quiet --print-directory --no-print-directory'),
    '-C': WORKING_DIRECTORY,
    '--directory': WORKING_DIRECTORY,
  },
  everyOperand: true,
};

const APT: SubcommandProgram = {
  options:
    '-qydfmsuhVv -o= -c= -t= -a= --yes --assume-yes --assume-no --quiet[=] --fix-broken --simulate --dry-run --download-only --no-install-recommends --allow-unauthenticated --reinstall --purge --option= --config-file= --target-release= --default-release=',
  neutralOptions: { '-q': true, '--quiet': true },
};

const CARGO: SubcommandProgram = {
  options:
    '-qvVh -C= -Z= --quiet --verbose --color= --config= --explain= --locked --offline --frozen --list --version --help',
  neutralOptions: {
    ...always('-q -v --quiet --verbose'),
    '-C': WORKING_DIRECTORY,
    '--color': COLOR,
  },
  toolchain: true,
};

/**
 * The programs whose options before the subcommand are known. Rules, suggested rules and the proof that a command only
 * reads use this table. The options of all other programs are unknown.
 */
export const SUBCOMMAND_PROGRAMS = mapByName<SubcommandProgram>({
  git: {
    options:
      '-pPvh -C@ -c= --no-pager --paginate --no-optional-locks --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-replace-objects --no-lazy-fetch --no-advice --bare --exec-path[=] --git-dir= --work-tree= --namespace= --super-prefix= --config-env= --attr-source= --list-cmds= --html-path --man-path --info-path --version --help',
    neutralOptions: {
      ...always('-P --no-pager --no-optional-locks --no-advice --literal-pathspecs'),
      '-C': WORKING_DIRECTORY,
      '-c': /^(?:color\.[\w.]+=(?:always|never|auto|true|false)|core\.quote[Pp]ath=(?:true|false|on|off)|core\.pager=cat)$/,
    },
  },
  npm: NPM,
  pnpm: {
    ...NPM,
    options: `${NPM.options} -r -F= --dir= --filter= --filter-prod= --recursive --stream --aggregate-output --reporter= --use-stderr --workspace-root --store-dir= --virtual-store-dir= --modules-dir= --parallel`,
    neutralOptions: { ...NPM.neutralOptions, '--dir': WORKING_DIRECTORY },
  },
  npx: {
    options:
      '-yq -p= -c= -w= --yes --no --no-install --quiet --silent --package= --call= --workspace= --workspaces --prefer-offline --offline --bun --ignore-existing',
    neutralOptions: always('-y --yes -q --quiet --silent'),
  },
  yarn: {
    options:
      '-s --cwd= --silent --verbose --json --offline --prefer-offline --non-interactive --no-progress --no-lockfile --no-default-rc --ignore-scripts --ignore-engines --frozen-lockfile --pure-lockfile --production[=] --mutex= --cache-folder= --modules-folder= --registry= --use-yarnrc= --network-timeout# --version',
    neutralOptions: {
      ...always('-s --silent --verbose --no-progress'),
      '--cwd': WORKING_DIRECTORY,
    },
  },
  bun: {
    options: '-biv -c= -e= -p= -r= --cwd= --config= --bun --watch --hot --silent --env-file=',
    neutralOptions: { '--cwd': WORKING_DIRECTORY, '--silent': true },
  },
  docker: DOCKER,
  'docker compose, docker-compose': COMPOSE,
  podman: {
    options: `${DOCKER.options} -r --remote --connection= --url= --identity= --root= --runroot=`,
  },
  'kubectl, oc': KUBECTL,
  helm: {
    options:
      '-n= --namespace= --kube-context= --kubeconfig= --kube-apiserver= --kube-token= --kube-as-user= --kube-as-group= --kube-ca-file= --burst-limit# --qps= --registry-config= --repository-cache= --repository-config= --debug',
  },
  cargo: CARGO,
  rustup: { options: '-qvVh --quiet --verbose --version --help', toolchain: true },
  go: { options: '--C=', neutralOptions: { '--C': WORKING_DIRECTORY }, singleDash: true },
  gh: { options: '-R= --repo= --hostname= --version --help' },
  glab: { options: '-R= --repo= --version --help' },
  'terraform, tofu': TERRAFORM,
  aws: {
    options:
      '--profile= --region= --output= --query= --endpoint-url= --color= --ca-bundle= --cli-read-timeout# --cli-connect-timeout# --cli-binary-format= --no-cli-pager --no-paginate --no-sign-request --no-verify-ssl --no-cli-auto-prompt --cli-auto-prompt --debug --version',
    neutralOptions: always('--no-cli-pager --color --output'),
  },
  gcloud: {
    options:
      '-qh --account= --billing-project= --configuration= --flags-file= --format= --project= --verbosity= --impersonate-service-account= --access-token-file= --trace-token= --log-http --user-output-enabled[=] --quiet --version --help',
    neutralOptions: { '--format': true, '--verbosity': true },
  },
  az: {
    options: '-h -o= --output= --query= --subscription= --debug --verbose --only-show-errors',
  },
  'pip, pip3': PIP,
  uv: {
    options:
      '-qvnh --quiet --verbose --offline --no-cache --native-tls --no-config --no-progress --directory= --project= --config-file= --cache-dir= --color= --python= --allow-insecure-host=',
    neutralOptions: {
      ...always('-q -v --quiet'),
      '--directory': WORKING_DIRECTORY,
      '--project': WORKING_DIRECTORY,
    },
  },
  poetry: {
    options:
      '-qnvh -C= -P= --quiet --no-interaction --no-plugins --no-cache --ansi --no-ansi --directory= --project= --version',
  },
  systemctl: {
    options:
      '-qalrf -H= -M= -p= -t= -n# -o= -s= --user --system --global --no-pager --no-block --no-ask-password --no-legend --no-wall --now --quiet --full --force --all --host= --machine= --root= --type= --state= --property= --output= --lines# --signal= --kill-whom= --job-mode= --runtime',
    neutralOptions: always('-q --quiet --no-pager --no-legend'),
  },
  'make, gmake': MAKE,
  ninja: { options: '-nvh -C= -f= -j# -k# -l# -d= -t= -w=', everyOperand: true },
  mvn: {
    options:
      '-qXBeUoNv -f= -P= -s= -t= -T= -D= --quiet --debug --batch-mode --errors --offline --file= --settings= --threads= --projects= --activate-profiles= --also-make',
    everyOperand: true,
  },
  gradle: {
    options:
      '-qdisSh -p= -b= -c= -g= -D= -P= -I= -x= --quiet --debug --info --stacktrace --offline --no-daemon --daemon --continue --parallel --build-cache --no-build-cache --project-dir= --build-file= --console= --init-script= --exclude-task=',
    everyOperand: true,
  },
  rake: { options: '-qsvntTPWAD -f= -I= -R= -r= -C= -e= --quiet --silent', everyOperand: true },
  just: {
    options:
      '-nqvluh -f= -d= -E= --justfile= --working-directory= --set= --shell= --color= --dotenv-path= --dotenv-filename= --dry-run --quiet --verbose --yes',
    everyOperand: true,
  },
  'apt, apt-get': APT,
  tmux: { options: '-2CDlNuvV -c= -f= -L= -S= -T=' },
  hg: {
    options:
      '-qvyh -R= --repository= --cwd= --config= --color= --pager= --encoding= --debug --noninteractive --quiet --verbose --traceback --time --profile --hidden',
  },
  jj: {
    options:
      '-R= --repository= --at-operation= --at-op= --config= --config-file= --color= --quiet --no-pager --ignore-working-copy --ignore-immutable --debug',
    neutralOptions: always('--quiet --no-pager --color'),
  },
});
