import { projectClaudeFiles, userClaudeFile } from './claude-files.ts';
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

export interface ConfigFile {
  readonly path: string;
  readonly scope: 'user' | 'project';
  readonly state: 'absent' | 'read' | 'broken' | UntrustedState;
}

/**
 * The states of a project's file that the user has not trusted: never, or not with its present content.
 */
type UntrustedState = 'untrusted' | 'changed';

/** A file with the settings that it contributes. */
interface FileReading {
  readonly file: ConfigFile;
  readonly layer: Layer;
}

/** Reads the user's files, the weaker first: the settings of Claude Code, then Muster's own. */
export async function readUserFiles(place: UserEnvironment): Promise<readonly FileReading[]> {
  const path = userConfigFile(place);
  const own = await tomlReading(
    { path, scope: 'user' },
    readUserSettingsFile(path),
    readConfigFile,
  );
  const claude = userClaudeFile(place.home);
  const settings = { ...claude, scope: 'user' } as const;
  return [...claudeReading(settings, readUserSettingsFile(claude.path)), own];
}

interface ProjectPlace extends UserEnvironment {
  readonly cwd: string;
  readonly trust: ProjectTrust;
}

/**
 * Reads the project's files that exist.
 *
 * @param user the settings of the user, which a project's file can only narrow
 */
export async function readProjectConfigFiles(
  { cwd, home, trust }: ProjectPlace,
  user: ReadonlyMap<string, Setting>,
): Promise<readonly FileReading[]> {
  const claude = projectClaudeFiles(cwd, home).flatMap(({ path, directory, boundary }) => {
    const reading = readProjectSettingsFile({ kind: 'permissions', path, boundary }, trust);
    return claudeReading({ path, directory, scope: 'project' }, reading);
  });
  const own: FileReading[] = [];
  for (const path of findConfigFiles(cwd)) {
    const reading = readProjectSettingsFile(
      { kind: 'config', path, boundary: projectRoot(cwd) },
      trust,
    );
    const layerOf = (file: TomlFile): Layer => readProjectConfig(file, user);
    own.push(await tomlReading({ path, scope: 'project' }, reading, layerOf));
    // One that nobody has trusted must not take away what a trusted one above it refuses.
    if (reading.kind === 'read') break;
  }
  return [...claude, ...own];
}

type Named = Pick<ConfigFile, 'path' | 'scope'>;

async function tomlReading(
  named: Named,
  reading: SettingsReading,
  layerOf: (file: TomlFile) => Layer,
): Promise<FileReading> {
  if (reading.kind !== 'read') return withoutLayer(named, reading);
  const parsed = await parseToml(named.path, reading.text);
  return parsed.ok
    ? { file: { ...named, state: 'read' }, layer: layerOf(parsed.file) }
    : {
        file: { ...named, state: 'broken' },
        layer: { ...EMPTY_LAYER, problems: [parsed.problem] },
      };
}

/** Returns nothing for a file that does not exist, since most people have none. */
function claudeReading(
  settings: Omit<ClaudeSettings, 'text'>,
  reading: SettingsReading,
): readonly FileReading[] {
  const { path, scope } = settings;
  if (reading.kind === 'absent') return [];
  if (reading.kind !== 'read') return [withoutLayer({ path, scope }, reading)];
  const layer = readClaudeSettings({ ...settings, text: reading.text });
  return [{ file: { path, scope, state: 'read' }, layer }];
}

function withoutLayer(
  named: Named,
  reading: Exclude<SettingsReading, { kind: 'read' }>,
): FileReading {
  switch (reading.kind) {
    case 'absent':
      return { file: { ...named, state: 'absent' }, layer: EMPTY_LAYER };
    case 'untrusted': {
      const state = reading.verdict.state === 'new' ? 'untrusted' : 'changed';
      return { file: { ...named, state }, layer: EMPTY_LAYER };
    }
    case 'broken': {
      const problem = { where: escapeLine(named.path), message: reading.message };
      const file: ConfigFile = { ...named, state: 'broken' };
      // Whoever puts a pipe or a link into a project must not be able to keep Muster from starting.
      return named.scope === 'project'
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
