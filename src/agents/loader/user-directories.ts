import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Environment } from '../../sys/env.ts';
import { expandHome, isInside } from '../../sys/files/paths.ts';

/** The user's own directories. */
export interface UserDirectories {
  readonly home: string;
  /** `$XDG_CONFIG_HOME`, or `.config` in the home directory. */
  readonly config: string;
  /** Returns the directory that an environment variable names, or undefined where it is not set or not absolute. */
  readonly named: (variable: string) => string | undefined;
}

/** Returns the directories that hold the user's own files. */
export function userDirectories(environment: Environment): UserDirectories {
  const home = environment['HOME'] || homedir();
  // The XDG specification says that a relative path in XDG_CONFIG_HOME is to be ignored.
  const named = (variable: string): string | undefined => {
    const path = expandHome(environment[variable] ?? '', home);
    return isAbsolute(path) ? path : undefined;
  };
  return { home, config: named('XDG_CONFIG_HOME') ?? join(home, '.config'), named };
}

/** The directories in which products keep the user's own files. An environment variable of the product may move them. */
export const PRODUCT_HOMES = {
  claude: ({ home, named }: UserDirectories) => named('CLAUDE_CONFIG_DIR') ?? join(home, '.claude'),
  codex: ({ home, named }: UserDirectories) => named('CODEX_HOME') ?? join(home, '.codex'),
  copilot: ({ home, named }: UserDirectories) => named('COPILOT_HOME') ?? join(home, '.copilot'),
  gemini: ({ home, named }: UserDirectories) => join(named('GEMINI_CLI_HOME') ?? home, '.gemini'),
  pi: ({ home, named }: UserDirectories) =>
    named('PI_CODING_AGENT_DIR') ?? join(home, '.pi', 'agent'),
  qwen: ({ home, named }: UserDirectories) => named('QWEN_HOME') ?? join(home, '.qwen'),
} as const;

/** The owner of a directory, which decides how far the files in it are trusted. */
export interface DirectoryOwner {
  readonly scope: 'project' | 'user';
  /**
   * The directory that no link may lead out of. For the user's own files it is the root of the file system,
   * because programs that keep all settings in one directory link to them from elsewhere.
   */
  readonly boundary: string;
}

/**
 * Returns the owner of one of the user's directories. An environment variable may name any directory: one inside
 * the project (`root`) belongs to the project, and must be trusted.
 */
export function ownerOfDirectory(
  path: string,
  user: UserDirectories,
  root: string,
): DirectoryOwner {
  if (isInside(root, path) && !isInside(root, user.home)) {
    return { scope: 'project', boundary: root };
  }
  return { scope: 'user', boundary: '/' };
}
