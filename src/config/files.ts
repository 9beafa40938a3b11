import { projectClaudeFiles, userClaudeFile, type PlacedUser } from './claude-files.ts';
import { readClaudeSettings, type ClaudeSettings } from './claude-settings.ts';
import { readConfigFile } from './file-layer.ts';
import { projectRoot } from '../sys/files/project-directories.ts';
import type { ProjectTrust } from '../sys/files/project-file.ts';
import { EMPTY_LAYER, type Layer } from './layer.ts';
import { findConfigFiles, userConfigFile, type UserEnvironment } from './paths.ts';
import { readProjectConfig } from './project-layer.ts';
import { escapeLine } from './message-text.ts';
import {
  readProjectSettingsFile,
  readUserSettingsFile,
  type SettingsReading,
} from './settings-file.ts';
import type { Setting } from './setting.ts';
import { parseToml, type TomlFile } from './parse-toml.ts';

/** A configuration file that was looked for, and whether it could be used. */
export interface ConfigFile {
  readonly path: string;
  readonly scope: 'user' | 'project';
  readonly state: 'absent' | 'read' | 'broken' | UntrustedState;
}

/**
 * The states of a project's file that the user has not trusted: `untrusted` if it was never trusted, `changed` if it
 * was trusted with another content.
 */
type UntrustedState = 'untrusted' | 'changed';

/** A configuration file with the settings that it contributes. */
interface FileReading {
  readonly file: ConfigFile;
  readonly layer: Layer;
}

/** Reads the user's files, in ascending order of precedence: the settings of Claude Code, then Muster's own. */
export async function readUserFiles(user: PlacedUser): Promise<readonly FileReading[]> {
  const path = userConfigFile(user);
  const own = await readTomlFile(
    { path, scope: 'user' },
    readUserSettingsFile(path),
    readConfigFile,
  );
  const claude = userClaudeFile(user);
  const settings = { ...claude, scope: 'user' } as const;
  return [...readClaudeFile(settings, readUserSettingsFile(claude.path)), own];
}

interface ProjectLocation extends UserEnvironment {
  readonly cwd: string;
  readonly trust: ProjectTrust;
}

/**
 * Reads the project's files that exist.
 *
 * @param user the settings of the user, which a project's file can only narrow
 */
export async function readProjectConfigFiles(
  { cwd, home, trust }: ProjectLocation,
  user: ReadonlyMap<string, Setting>,
): Promise<readonly FileReading[]> {
  const claude = projectClaudeFiles(cwd, home).flatMap(({ path, directory, boundary }) => {
    const reading = readProjectSettingsFile({ kind: 'permissions', path, boundary }, trust);
    return readClaudeFile({ path, directory, scope: 'project' }, reading);
  });
  const own: FileReading[] = [];
  for (const path of findConfigFiles(cwd)) {
    const reading = readProjectSettingsFile(
      { kind: 'config', path, boundary: projectRoot(cwd) },
      trust,
    );
    const readLayer = (file: TomlFile): Layer => readProjectConfig(file, user);
    own.push(await readTomlFile({ path, scope: 'project' }, reading, readLayer));
    // An untrusted file does not end the search, since it must not hide the refusals of a trusted file above it.
    if (reading.kind === 'read') break;
  }
  return [...claude, ...own];
}

type FileIdentity = Pick<ConfigFile, 'path' | 'scope'>;

async function readTomlFile(
  identity: FileIdentity,
  reading: SettingsReading,
  readLayer: (file: TomlFile) => Layer,
): Promise<FileReading> {
  if (reading.kind !== 'read') return createUnusedFile(identity, reading);
  const parsed = await parseToml(identity.path, reading.text);
  return parsed.ok
    ? { file: { ...identity, state: 'read' }, layer: readLayer(parsed.file) }
    : {
        file: { ...identity, state: 'broken' },
        layer: { ...EMPTY_LAYER, problems: [parsed.problem] },
      };
}

/** Returns an empty list if the file does not exist, because most people do not use Claude Code. */
function readClaudeFile(
  settings: Omit<ClaudeSettings, 'text'>,
  reading: SettingsReading,
): readonly FileReading[] {
  const { path, scope } = settings;
  if (reading.kind === 'absent') return [];
  if (reading.kind !== 'read') return [createUnusedFile({ path, scope }, reading)];
  const layer = readClaudeSettings({ ...settings, text: reading.text });
  return [{ file: { path, scope, state: 'read' }, layer }];
}

function createUnusedFile(
  identity: FileIdentity,
  reading: Exclude<SettingsReading, { kind: 'read' }>,
): FileReading {
  switch (reading.kind) {
    case 'absent':
      return { file: { ...identity, state: 'absent' }, layer: EMPTY_LAYER };
    case 'untrusted': {
      const state = reading.verdict.state === 'new' ? 'untrusted' : 'changed';
      return { file: { ...identity, state }, layer: EMPTY_LAYER };
    }
    case 'broken': {
      const problem = { where: escapeLine(identity.path), message: reading.message };
      const file: ConfigFile = { ...identity, state: 'broken' };
      // Only a notice, because a pipe or a link in a project must not keep Muster from starting.
      return identity.scope === 'project'
        ? {
            file,
            layer: {
              ...EMPTY_LAYER,
              notices: [{ ...problem, message: `${problem.message} Ignored.` }],
            },
          }
        : { file, layer: { ...EMPTY_LAYER, problems: [problem] } };
    }
  }
}
