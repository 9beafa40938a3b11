import { basename, join } from 'node:path';
import { isJsonObject } from '../base/json.ts';
import { parseJsonLine } from '../base/jsonl.ts';
import { projectClaudeFiles, userClaudeFile, type PlacedUser } from '../config/claude-files.ts';
import { userConfigDirectory, type UserEnvironment } from '../config/paths.ts';
import { MAX_SETTINGS_BYTES, readUserSettingsFile } from '../config/settings-file.ts';
import type { HookSource } from '../protocol/hook.ts';
import { lstatIfPresent } from '../sys/files/path-lookup.ts';
import { projectRoot } from '../sys/files/project-directories.ts';
import {
  readProjectFile,
  TRUST_ALL,
  type ProjectFileRequest,
  type ProjectTrust,
} from '../sys/files/project-file.ts';

/** Muster's own file with hooks, in the user's configuration directory and in `.muster` of a project. */
const HOOKS_FILE = 'hooks.json';

/** The text of a file that has hooks and may take effect. */
export interface HookFile {
  readonly source: HookSource;
  readonly text: string;
}

/** The hook files of a user and a project. */
export interface HookFiles {
  /** The files that take effect. The files of the user come first. */
  readonly files: readonly HookFile[];
  /** The files of the project that the user has not trusted. */
  readonly untrusted: readonly { readonly path: string; readonly state: 'untrusted' | 'changed' }[];
  /** One line for each file that cannot be read. */
  readonly problems: readonly string[];
}

/** Returns the path of the user's own file with hooks. */
export function userHooksFile(user: UserEnvironment): string {
  return join(userConfigDirectory(user), HOOKS_FILE);
}

/** Returns the path of Muster's own file with hooks in a project. */
export function projectHooksFile(cwd: string): string {
  return join(projectRoot(cwd), '.muster', HOOKS_FILE);
}

/** Returns the files of a project in which hooks may be: settings of Claude Code, and Muster's own file. */
export function listProjectHookFiles(cwd: string, home: string): readonly ProjectFileRequest[] {
  const own = { path: projectHooksFile(cwd), boundary: projectRoot(cwd) };
  return [own, ...projectClaudeFiles(cwd, home)].map(({ path, boundary }) => ({
    kind: 'hooks' as const,
    path,
    boundary,
    maxBytes: MAX_SETTINGS_BYTES,
  }));
}

/** Tells whether a file may hold hooks. Most settings files hold none, and then nobody has to trust them for that. */
export function mayHoldHooks(text: string | Buffer): boolean {
  if (!text.includes('"hooks"')) return false;
  const value = parseJsonLine(text.toString('utf8'));
  if (!isJsonObject(value)) return true;
  const { hooks } = value;
  return !isJsonObject(hooks) || Object.keys(hooks).length > 0;
}

/**
 * Reads the files with hooks. Nothing of a project's file that the user has not trusted is used.
 *
 * @param user the user and the working directory
 */
export function readHookFiles(user: PlacedUser, trust: ProjectTrust): HookFiles {
  const files: HookFile[] = [];
  const untrusted: { path: string; state: 'untrusted' | 'changed' }[] = [];
  const problems: string[] = [];
  for (const path of [userClaudeFile(user).path, userHooksFile(user)]) {
    const reading = readUserSettingsFile(path);
    if (reading.kind === 'broken') problems.push(`${path}: ${reading.message}`);
    if (reading.kind === 'read' && mayHoldHooks(reading.text))
      files.push({ source: { kind: 'user', where: path }, text: reading.text });
  }
  for (const request of listProjectHookFiles(user.cwd, user.home)) {
    const { path } = request;
    const content = readProjectFile(request, TRUST_ALL);
    // A settings file that cannot be read is reported with its permissions.
    const isReported = basename(path) !== HOOKS_FILE || lstatIfPresent(path) === undefined;
    if (content.kind === 'refused' && !isReported) problems.push(`${path}: ${content.reason}`);
    if (content.kind !== 'read' || !mayHoldHooks(content.bytes)) continue;
    const reading = readProjectFile(request, trust);
    if (reading.kind === 'read') {
      const text = reading.bytes.toString('utf8');
      files.push({ source: { kind: 'project', where: path }, text });
    } else if (reading.kind === 'untrusted') {
      const state = reading.verdict.state === 'new' ? 'untrusted' : 'changed';
      untrusted.push({ path, state });
    }
  }
  return { files, untrusted, problems };
}
