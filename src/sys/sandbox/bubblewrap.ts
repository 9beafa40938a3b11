import type { PathRule, SandboxPlan } from './plan.ts';

/** The size of each private directory in bytes. Private directories are kept in memory. */
const PRIVATE_BYTES = 2 * 1024 ** 3;

/** Arguments for an isolated process that ends together with its parent and can change nothing on disk. */
export const ISOLATED = '--die-with-parent --new-session --cap-drop ALL --ro-bind / /'.split(' ');

/**
 * Entries of /proc that let their owner change the kernel or show more than the sandbox's own processes. bwrap
 * itself covers only entries that it finds writable; the directory `sys` is not writable, but files in it are.
 */
const KERNEL_FILES =
  'acpi asound bus driver dynamic_debug fs irq kcore latency_stats mtrr pressure scsi slabinfo sys sysrq-trigger'
    .split(' ')
    .map((name) => `/proc/${name}`);

/**
 * Builds the arguments of bwrap(1) that confine `argv` as the plan says: separate namespaces for everything, no
 * capabilities (for root, a user namespace alone leaves them all), no terminal, and an end together with the
 * process that started it. Pure.
 */
export function buildBubblewrapArguments(
  plan: SandboxPlan,
  argv: readonly string[],
): readonly string[] {
  // A rule for `/` comes first, because it would cover the mounts of devices and processes.
  const whole = plan.rules.filter(({ path }) => path === '/');
  const parts = plan.rules.filter(({ path }) => path !== '/');
  return [
    '--unshare-all',
    ...(plan.network ? ['--share-net'] : []),
    ...ISOLATED,
    ...whole.flatMap(ruleArguments),
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    // Other users cannot write to them anyway, and a partly covered /proc would rule out a nested sandbox.
    ...(plan.asRoot ? KERNEL_FILES.flatMap((path) => ['--ro-bind-try', path, path]) : []),
    ...parts.flatMap(ruleArguments),
    '--chdir',
    plan.cwd,
    '--',
    ...argv,
  ];
}

function ruleArguments({ kind, path }: PathRule): readonly string[] {
  switch (kind) {
    case 'private':
      return ['--size', String(PRIVATE_BYTES), '--tmpfs', path];
    case 'writable':
    case 'held':
      return ['--bind', path, path];
    case 'shown':
    case 'protected':
      return ['--ro-bind', path, path];
    // Such an entry is searched for when the command has ended (new-entries.ts).
    case 'absent':
      return [];
    case 'hidden':
      return ['--perms', '0555', '--tmpfs', path];
    case 'masked':
      return ['--ro-bind', '/dev/null', path];
  }
}
