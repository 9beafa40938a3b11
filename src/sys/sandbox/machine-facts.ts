import { existsSync, readFileSync } from 'node:fs';
import type { MachineFacts } from './diagnosis.ts';

export function readMachineFacts(): MachineFacts {
  return {
    apparmorRestricts: readText('/proc/sys/kernel/apparmor_restrict_unprivileged_userns'),
    userNamespacesAllowed: readText('/proc/sys/kernel/unprivileged_userns_clone'),
    mostUserNamespaces: readText('/proc/sys/user/max_user_namespaces'),
    osRelease: readText('/etc/os-release'),
    inContainer: existsSync('/.dockerenv') || existsSync('/run/.containerenv'),
  };
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // This kernel or system does not have it, which is an answer, too.
    return undefined;
  }
}
