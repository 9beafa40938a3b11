import { existsSync, readFileSync } from 'node:fs';
import { readEnvironment, type Environment } from '../env.ts';
import { isContainer } from './container.ts';
import type { MachineDetails } from './diagnosis.ts';

/** Docker, Podman and CRI-O, and systemd-nspawn with its kind make these. */
const MARKERS = ['/.dockerenv', '/run/.containerenv', '/run/systemd/container'];

/** Reads the details of this machine for a diagnosis. */
export function readMachineDetails(): MachineDetails {
  return {
    apparmorRestricts: readText('/proc/sys/kernel/apparmor_restrict_unprivileged_userns'),
    userNamespacesAllowed: readText('/proc/sys/kernel/unprivileged_userns_clone'),
    mostUserNamespaces: readText('/proc/sys/user/max_user_namespaces'),
    osRelease: readText('/etc/os-release'),
    inContainer: isInContainer(readEnvironment()),
  };
}

/** Tells whether this process seems to run in a container. */
export function isInContainer(environment: Environment): boolean {
  return isContainer({
    markers: MARKERS.filter((path) => existsSync(path)),
    cgroups: readText('/proc/1/cgroup') ?? readText('/proc/self/cgroup') ?? '',
    environment,
  });
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // This kernel or system does not have it, which is an answer, too.
    return undefined;
  }
}
