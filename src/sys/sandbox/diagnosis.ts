import { existsSync } from 'node:fs';
import { readEnvironment, type Environment } from '../env.ts';
import { readTextIfPresent } from '../files/path-lookup.ts';

/**
 * Details of this machine that help to find out why bubblewrap does not work. Each text is the content of the file that
 * its comment names; undefined if the file does not exist.
 */
export interface MachineDetails {
  /** /proc/sys/kernel/apparmor_restrict_unprivileged_userns */
  readonly apparmorRestricts: string | undefined;
  /** /proc/sys/kernel/unprivileged_userns_clone */
  readonly userNamespacesAllowed: string | undefined;
  /** /proc/sys/user/max_user_namespaces */
  readonly mostUserNamespaces: string | undefined;
  /** /etc/os-release */
  readonly osRelease: string | undefined;
  readonly inContainer: boolean;
}

/** The reason why there is no working sandbox, and a hint on how to get one. */
export interface SandboxDiagnosis {
  readonly because: string;
  readonly hint: string;
}

const INSTALL_COMMANDS: readonly (readonly [RegExp, string])[] = [
  [/debian|ubuntu/, 'apt install bubblewrap'],
  [/fedora|rhel|centos/, 'dnf install bubblewrap'],
  [/arch/, 'pacman -S bubblewrap'],
  [/suse/, 'zypper install bubblewrap'],
  [/alpine/, 'apk add bubblewrap'],
  [/nixos/, 'add pkgs.bubblewrap to environment.systemPackages'],
];

/**
 * Returns the diagnosis for a machine on which bubblewrap is not installed, with the install command of its
 * distribution.
 */
export function diagnoseMissingBubblewrap({
  osRelease = '',
  inContainer,
}: MachineDetails): SandboxDiagnosis {
  const ids = (osRelease.match(/^ID(?:_LIKE)?=.*$/gm) ?? []).join(' ').toLowerCase();
  const known = INSTALL_COMMANDS.find(([name]) => name.test(ids))?.[1];
  const how = known ?? 'install the package bubblewrap (apt, dnf, pacman, zypper and apk have it)';
  const because = 'bubblewrap (bwrap) is not installed';
  return { because, hint: addContainerHint(how, inContainer) };
}

/** Returns the diagnosis for a failure of bwrap that wrote this text to stderr. */
export function diagnoseBubblewrapFailure(
  stderr: string,
  details: MachineDetails,
): SandboxDiagnosis {
  const { because, hint } = diagnoseFailure(stderr, details);
  return { because, hint: addContainerHint(hint, details.inContainer) };
}

function diagnoseFailure(stderr: string, details: MachineDetails): SandboxDiagnosis {
  const [line = ''] = stderr.trim().split('\n');
  const failure = line === '' ? 'bwrap ended without an error message' : line.slice(0, 200);
  if (/mount proc/i.test(failure)) {
    return {
      because: `this container hides parts of /proc (${failure})`,
      hint: 'start the container with --security-opt systempaths=unconfined',
    };
  }
  if (
    !/namespace|uid map|gid map|setgroups|loopback|Operation not permitted|Permission denied/i.test(
      failure,
    )
  ) {
    return {
      because: `bubblewrap does not work here (${failure})`,
      hint: 'run `bwrap --unshare-all --ro-bind / / true` to see what it says',
    };
  }
  return {
    because: `user namespaces are not allowed here (${failure})`,
    hint: allowNamespaces(details),
  };
}

function allowNamespaces(details: MachineDetails): string {
  if (Number(details.apparmorRestricts ?? 0) > 0) {
    return 'give bwrap an AppArmor profile that allows userns, or: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0';
  }
  if (details.userNamespacesAllowed?.trim() === '0') {
    return 'sudo sysctl -w kernel.unprivileged_userns_clone=1';
  }
  if (details.mostUserNamespaces?.trim() === '0') {
    return 'sudo sysctl -w user.max_user_namespaces=15000';
  }
  return details.inContainer
    ? 'the container must allow user namespaces: start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined'
    : 'another sandbox seems to forbid user namespaces: start Muster outside of that sandbox';
}

/** Files that Docker, Podman, CRI-O, systemd-nspawn and similar engines create. */
const CONTAINER_MARKERS = ['/.dockerenv', '/run/.containerenv', '/run/systemd/container'];

/** Reads the details of this machine for a diagnosis. */
export function readMachineDetails(): MachineDetails {
  return {
    apparmorRestricts: readTextIfPresent('/proc/sys/kernel/apparmor_restrict_unprivileged_userns'),
    userNamespacesAllowed: readTextIfPresent('/proc/sys/kernel/unprivileged_userns_clone'),
    mostUserNamespaces: readTextIfPresent('/proc/sys/user/max_user_namespaces'),
    osRelease: readTextIfPresent('/etc/os-release'),
    inContainer: isInContainer(readEnvironment()),
  };
}

/** Tells whether this process seems to run in a container. */
export function isInContainer(environment: Environment): boolean {
  return isContainer({
    markers: CONTAINER_MARKERS.filter((path) => existsSync(path)),
    cgroups: readTextIfPresent('/proc/1/cgroup') ?? readTextIfPresent('/proc/self/cgroup') ?? '',
    environment,
  });
}

/** The flag with which the user declares that the machine itself is the sandbox. */
const CONTAINER_SWITCH = '--sandbox container';

/** Properties of a machine by which a container is recognized. */
export interface ContainerIndicators {
  /** Existing files that only container engines create. */
  readonly markers: readonly string[];
  /** The content of /proc/1/cgroup; empty if it is not known. */
  readonly cgroups: string;
  readonly environment: Environment;
}

/**
 * Matches control groups that container engines create. They are visible if the container has no cgroup namespace of
 * its own.
 */
const CONTAINER_GROUP =
  /\/(?:docker|lxc|lxc\.payload[^/]*|kubepods(?:\.slice)?|libpod_parent|ecs|garden)\/|\b(?:docker|crio|libpod|cri-containerd)-[0-9a-f]{12}/;

/**
 * Tells whether a machine seems to be a container. The result only affects hints to the user, never permissions.
 */
export function isContainer({ markers, cgroups, environment }: ContainerIndicators): boolean {
  const engine = environment['container'] ?? '';
  const kubernetes = environment['KUBERNETES_SERVICE_HOST'] ?? '';
  return markers.length > 0 || engine !== '' || kubernetes !== '' || CONTAINER_GROUP.test(cgroups);
}

/** In a container, adds to a hint that the user can declare the container to be the sandbox. */
export function addContainerHint(hint: string, inContainer: boolean): string {
  return inContainer
    ? `${hint}; or, if this container is itself the sandbox, say so with ${CONTAINER_SWITCH}`
    : hint;
}
