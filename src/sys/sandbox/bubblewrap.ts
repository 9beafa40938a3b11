import type { PathRule, SandboxPlan } from './plan.ts';

/** The maximum size of each private directory in bytes. Private directories are kept in memory. */
const PRIVATE_BYTES = 2 * 1024 ** 3;

/** Arguments of bwrap for an isolated process that ends together with its parent and can change nothing on disk. */
export const ISOLATED = '--die-with-parent --new-session --cap-drop ALL --ro-bind / /'.split(' ');

/**
 * Entries of /proc through which root could change the kernel, or see more than the sandbox's own processes. bwrap
 * itself makes only those entries read-only that it finds writable: the directory `sys` is not writable, but files in
 * it are.
 */
const KERNEL_FILES =
  'acpi asound bus driver dynamic_debug fs irq kcore latency_stats mtrr pressure scsi slabinfo sys sysrq-trigger'
    .split(' ')
    .map((name) => `/proc/${name}`);

/**
 * Builds the arguments of bwrap(1) that confine the command `argv` according to the plan. The command gets separate
 * namespaces for everything, no capabilities (a user namespace alone would leave root all of them) and no terminal, and
 * ends together with the process that started it.
 */
export function buildBubblewrapArguments(
  plan: SandboxPlan,
  argv: readonly string[],
): readonly string[] {
  const { mask = '/dev/null' } = plan;
  const toArguments = (rule: PathRule) => ruleArguments(rule, mask);
  // A rule for `/` comes first, because it would cover the mounts of devices and processes.
  const rootRules = plan.rules.filter(({ path }) => path === '/');
  const otherRules = plan.rules.filter(({ path }) => path !== '/');
  return [
    '--unshare-all',
    ...(plan.network ? ['--share-net'] : []),
    ...ISOLATED,
    ...rootRules.flatMap(toArguments),
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    // Only root can write to these files, and if parts of /proc are covered, no nested sandbox can be created.
    ...(plan.asRoot ? KERNEL_FILES.flatMap((path) => ['--ro-bind-try', path, path]) : []),
    ...otherRules.flatMap(toArguments),
    '--chdir',
    plan.cwd,
    '--',
    ...argv,
  ];
}

function ruleArguments({ kind, path }: PathRule, mask: string): readonly string[] {
  switch (kind) {
    case 'private':
      return ['--size', String(PRIVATE_BYTES), '--tmpfs', path];
    case 'writable':
    case 'held':
      return ['--bind', path, path];
    case 'shown':
    case 'protected':
      return ['--ro-bind', path, path];
    // bwrap cannot prevent that the path is created, so it is checked when the command has ended (new-entries.ts).
    case 'absent':
      return [];
    case 'hidden':
      return ['--perms', '0555', '--tmpfs', path];
    case 'masked':
      return ['--ro-bind', mask, path];
  }
}
