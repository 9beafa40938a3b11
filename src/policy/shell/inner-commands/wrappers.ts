import { mapByName } from '../name-table.ts';

/** A program that runs the command in its arguments. */
export interface CommandWrapper {
  /** The options of the wrapper before the command, in the syntax of `parseOptionTable`. */
  readonly options: string;
  /** The number of operands of the wrapper between its options and the command. Default 0. */
  readonly operands?: number;
  /** True if options may also follow these operands. */
  readonly optionsBehindOperands?: boolean;
  /** True if the wrapper adds words that the line does not show to the command. */
  readonly isOpenEnded?: boolean;
  /** True if the wrapper passes the words to a shell as one text. */
  readonly isScript?: boolean;
  /** True if a single dash (`-`) ends the options. */
  readonly dashIsOption?: true;
  /** Options whose value is a text for a shell, before the command or instead of a command. */
  readonly scriptOptions?: readonly string[];
}

const DOCKER_RUN: CommandWrapper = {
  options:
    '-itdPq -e= -v= -p= -w= -u= -h= -l= -m= --interactive --tty --detach --rm --init --privileged --read-only --no-healthcheck --publish-all --quiet --env= --env-file= --volume= --mount= --publish= --workdir= --user= --name= --network= --net= --hostname= --label= --memory= --cpus= --platform= --pull= --restart= --add-host= --cap-add= --cap-drop= --device= --dns= --expose= --gpus= --ipc= --link= --log-driver= --pid= --shm-size= --stop-timeout= --tmpfs= --ulimit= --userns= --volumes-from=',
  operands: 1,
};
const DOCKER_EXEC: CommandWrapper = {
  options:
    '-itdT -e= -w= -u= --interactive --tty --detach --privileged --no-TTY --env= --env-file= --workdir= --user= --index=',
  operands: 1,
};
const KUBECTL_EXEC: CommandWrapper = {
  options:
    '-itq -c= -n= -f= --stdin --tty --quiet --container= --namespace= --context= --kubeconfig=',
  operands: 1,
  optionsBehindOperands: true,
};
const NPX: CommandWrapper = {
  options:
    '-yq -p= -c= -w= --yes --no --no-install --quiet --silent --package= --call= --workspace= --workspaces --prefer-offline --offline --bun --ignore-existing',
  scriptOptions: ['-c', '--call'],
};
const TIMEOUT: CommandWrapper = {
  options: '-fpv -k= -s= --foreground --preserve-status --verbose --kill-after= --signal=',
  operands: 1,
};
/** Wrappers without known options before the command. */
const PLAIN = [
  'builtin, busybox, toybox, catchsegv, eatmydata, corepack, cross-env, nohup, rlwrap, torsocks, cpulimit',
  'systemd-run, arch, linux32, linux64, setpriv, prlimit, runcon, nsenter, firejail, bwrap, proot',
  'perf stat, perf record, rr record, heaptrack, watchexec, screen, dotenvx run, op run, doppler run',
  'yarn exec, composer exec, poetry run, pipenv run, pdm run, hatch run, rye run, bundle exec, lerna exec',
  'mise exec, mise x, asdf exec, pyenv exec, rbenv exec, nodenv exec, volta run, git bisect run',
];

/**
 * The programs, some with a subcommand, that run the command in the words after them. After an option that is not
 * listed, the command could start at any later word.
 */
export const COMMAND_WRAPPERS = mapByName<CommandWrapper>({
  [PLAIN.join(', ')]: { options: '' },
  entr: { options: '-acdnprsxz' },
  'command, unbuffer': { options: '-p' },
  exec: { options: '-cl -a=' },
  env: {
    options: '-i0v -u= -C= -a= --ignore-environment --null --debug --unset= --chdir= --argv0=',
    dashIsOption: true,
  },
  ionice: { options: '-t -c= -n= --ignore --class= --classdata=' },
  nice: { options: '-# -n= --adjustment=' },
  chrt: { options: '-bfiorRv --batch --fifo --idle --other --rr --verbose', operands: 1 },
  taskset: { options: '-ac --all-tasks --cpu-list', operands: 1 },
  numactl: { options: '-N= -m= -C= -i= -l --cpunodebind= --membind= --physcpubind=' },
  setsid: { options: '-cfw --ctty --fork --wait' },
  stdbuf: { options: '-i= -o= -e= --input= --output= --error=' },
  chronic: { options: '-ve' },
  ifne: { options: '-n' },
  caffeinate: { options: '-dimsu -t= -w=' },
  'proxychains, proxychains4': { options: '-q -f=' },
  faketime: { options: '-mpf --exclude-monotonic', operands: 1 },
  tini: { options: '-svwg -p= -e=' },
  'dumb-init': { options: '-cv -r= --single-child --verbose --rewrite=' },
  'dbus-run-session': { options: '--config-file= --dbus-daemon=' },
  'xvfb-run': { options: '-al -e= -f= -n= -p= -s= -w= --auto-servernum --server-args=' },
  'setarch, ip netns exec, gosu, su-exec, mosh, aws-vault exec, npm explore, direnv exec, lxc exec':
    { options: '', operands: 1 },
  pkexec: { options: '--user= --disable-internal-agent' },
  sshpass: { options: '-evV -p= -f= -d= -P=' },
  dotenv: { options: '-ov -e= -c= -p=' },
  time: { options: '-pvaq -f= -o= --format= --output=' },
  'timeout, gtimeout': TIMEOUT,
  sudo: {
    options:
      '-AbEHKknPS -C= -D= -g= -h= -p= -r= -R= -t= -T= -U= -u= --non-interactive --preserve-env[=] --set-home --stdin --user= --group= --host= --chdir= --prompt=',
  },
  doas: { options: '-nL -a= -C= -u=' },
  fakeroot: { options: '-ub -l= -s= -i=' },
  chroot: { options: '--groups= --userspec= --skip-chdir', operands: 1 },
  unshare: {
    options:
      '-mupinUCTfrc --mount[=] --uts[=] --pid[=] --ipc[=] --net[=] --user[=] --fork --map-root-user',
  },
  strace: {
    options:
      '-cCdfFhiknqrtTvVxyYzZ -e= -o= -s= -p= -P= -E= -u= -a= -b= -I= -O= -S= -U= -X= --follow-forks',
  },
  ltrace: { options: '-cCfhiLrStTV -e= -o= -s= -p= -a= -n= -u= -x= -l= -w=' },
  valgrind: {
    options: '-qv --quiet --tool= --leak-check= --error-exitcode= --track-origins= --log-file=',
  },
  xargs: {
    options:
      '-0oprtx -a= -d= -E= -I= -L= -n= -P= -s= --null --no-run-if-empty --verbose --interactive --exit --arg-file= --delimiter= --max-args= --max-lines= --max-procs= --replace[=]',
    isOpenEnded: true,
  },
  watch: {
    options:
      '-bcdegptwxrC -n= -q= --beep --color --differences[=] --errexit --chgexit --interval= --precise --no-title --no-wrap --exec',
    isScript: true,
  },
  flock: {
    options:
      '-exsnuoFv -w= -E= --exclusive --shared --nonblock --nb --unlock --close --no-fork --verbose --timeout= --wait= --conflict-exit-code=',
    operands: 1,
    scriptOptions: ['-c', '--command'],
  },
  ssh: {
    options:
      '-46AaCfGgKkMNnqsTtVvXxYy -B= -b= -c= -D= -E= -e= -F= -I= -i= -J= -L= -l= -m= -O= -o= -P= -p= -Q= -R= -S= -W= -w=',
    operands: 1,
    optionsBehindOperands: true,
    isScript: true,
  },
  'npx, bunx, npm exec, npm x, pnpx, pnpm dlx, yarn dlx, bun x': NPX,
  'pnpm exec': { ...NPX, options: `${NPX.options} -r --recursive --parallel` },
  'bun exec': { options: '', isScript: true },
  'cargo watch': {
    options:
      '-cqN -x= -w= -i= -d= -C= --clear --quiet --exec= --watch= --ignore= --delay= --workdir=',
    scriptOptions: ['-s', '--shell'],
  },
  'uvx, uv tool run': { options: '-q -p= --from= --with= --python= --quiet --isolated --offline' },
  'uv run': {
    options:
      '-q -p= --with= --extra= --group= --python= --frozen --locked --no-sync --quiet --isolated --offline --all-extras --no-dev',
  },
  'pipx run': { options: '-q --spec= --python= --quiet --no-cache' },
  'conda run': { options: '-n= -p= --name= --prefix= --no-capture-output --live-stream' },
  'rustup run': { options: '--install', operands: 1 },
  'fnm exec': { options: '--using=' },
  'mamba run, micromamba run': { options: '-n= -p= --name= --prefix=' },
  'docker run, docker container run, docker compose run, docker-compose run, podman run':
    DOCKER_RUN,
  'docker exec, docker container exec, docker compose exec, docker-compose exec, podman exec':
    DOCKER_EXEC,
  'kubectl exec, oc exec': KUBECTL_EXEC,
  'git submodule foreach': { options: '-q --quiet --recursive', isScript: true },
});
