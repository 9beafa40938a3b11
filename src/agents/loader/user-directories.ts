import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Environment } from '../../sys/env.ts';
import { expandHome, isInside } from '../../sys/paths.ts';

/** The user's own directories. */
export interface UserDirectories {
  readonly home: string;
  /** `$XDG_CONFIG_HOME`, or `.config` in the home directory. */
  readonly config: string;
  /** The directory that a variable of the environment names; undefined: not set, or not absolute. */
  readonly named: (variable: string) => string | undefined;
}

/** Where the files of the user's own lie. */
export function userDirectories(environment: Environment): UserDirectories {
  const home = environment['HOME'] || homedir();
  // A relative path in XDG_CONFIG_HOME is to be ignored, says the XDG specification.
  const named = (variable: string): string | undefined => {
    const path = expandHome(environment[variable] ?? '', home);
    return isAbsolute(path) ? path : undefined;
  };
  return { home, config: named('XDG_CONFIG_HOME') ?? join(home, '.config'), named };
}

/** Where products keep what is the user's own, which a variable of theirs may move. */
export const PRODUCT_HOMES = {
  claude: ({ home, named }: UserDirectories) => named('CLAUDE_CONFIG_DIR') ?? join(home, '.claude'),
  codex: ({ home, named }: UserDirectories) => named('CODEX_HOME') ?? join(home, '.codex'),
  copilot: ({ home, named }: UserDirectories) => named('COPILOT_HOME') ?? join(home, '.copilot'),
  gemini: ({ home, named }: UserDirectories) => join(named('GEMINI_CLI_HOME') ?? home, '.gemini'),
  pi: ({ home, named }: UserDirectories) =>
    named('PI_CODING_AGENT_DIR') ?? join(home, '.pi', 'agent'),
  qwen: ({ home, named }: UserDirectories) => named('QWEN_HOME') ?? join(home, '.qwen'),
} as const;

/** The owner of a place where definitions lie, who decides how far its files are trusted. */
export interface PlaceOwner {
  readonly scope: 'project' | 'user';
  /**
   * The directory that links in this place must not lead out of. For the user it is the root of the file system:
   * programs that keep all settings in one directory link to them from elsewhere.
   */
  readonly boundary: string;
}

/**
 * Whose a place of the user's own is: a variable may name any directory, and in the project (`root`) it is
 * the project's, which must be trusted.
 */
export function ownerOf(path: string, user: UserDirectories, root: string): PlaceOwner {
  if (isInside(root, path) && !isInside(root, user.home)) {
    return { scope: 'project', boundary: root };
  }
  return { scope: 'user', boundary: '/' };
}
