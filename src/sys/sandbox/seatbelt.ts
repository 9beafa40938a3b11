import type { PathRule, SandboxPlan } from './plan.ts';

/** Devices that every program may write to. */
const WRITABLE_DEVICES = ['/dev/null', '/dev/zero', '/dev/tty', '/dev/stdout', '/dev/stderr'];

/**
 * Builds the arguments of sandbox-exec(1) of macOS that confine the command `argv` according to the plan. Paths are
 * passed as parameters, because a directory name in the text of the profile could end a string. Later rules override
 * earlier rules.
 */
export function buildSeatbeltArguments(
  plan: SandboxPlan,
  argv: readonly string[],
): readonly string[] {
  const paths = [plan.scratch, ...plan.rules.map(({ path }) => path)];
  return [
    '-p',
    seatbeltProfile(plan),
    ...paths.flatMap((path, index) => ['-D', `PATH_${index}=${path}`]),
    '--',
    ...argv,
  ];
}

/** Builds the profile. `PATH_0` is the plan's scratch directory, `PATH_1` the path of the first rule, and so on. */
function seatbeltProfile({ rules, network }: SandboxPlan): string {
  const devices = WRITABLE_DEVICES.map((path) => `(literal "${path}")`).join(' ');
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    `(allow file-write* ${devices} (subpath (param "PATH_0")))`,
    ...(network ? [] : ['(deny network*)']),
    // The command can neither inspect nor end programs outside its sandbox.
    '(deny process-info* (target others))',
    '(allow process-info* (target same-sandbox))',
    '(deny signal)',
    '(allow signal (target same-sandbox))',
    '(deny mach-priv-task-port)',
    ...rules.flatMap((rule, index) => ruleLines(rule, `(param "PATH_${index + 1}")`)),
  ].join('\n');
}

function ruleLines({ kind }: PathRule, path: string): readonly string[] {
  switch (kind) {
    case 'writable':
    case 'held':
      return [
        `(allow file-read* file-write* (subpath ${path}))`,
        // The directory must not be moved, because that would move its protected entries to unprotected paths.
        `(deny file-write-unlink (literal ${path}))`,
      ];
    case 'shown':
      return [`(allow file-read* (subpath ${path}))`, `(deny file-write* (subpath ${path}))`];
    case 'protected':
    case 'absent':
      return [`(deny file-write* (subpath ${path}))`];
    case 'private':
    case 'hidden':
    case 'masked':
      return [
        `(deny file-read* file-write* (subpath ${path}))`,
        `(deny network-outbound (subpath ${path}))`,
      ];
  }
}
