import { projectRoot } from '../sys/files/project-directories.ts';
import type { ProjectTrust } from '../sys/files/project-file.ts';
import { projectClaudeFiles, userClaudeFile } from './claude-places.ts';
import { claudeLayer, type ClaudeSettings } from './claude-settings.ts';
import { fileLayer } from './file-layer.ts';
import { EMPTY_LAYER, type Layer } from './layer.ts';
import { userConfigFile, type UserPlace } from './paths.ts';
import { findConfigFiles } from './project-file.ts';
import { projectLayer } from './project-layer.ts';
import { oneLine } from './quote.ts';
import { readProjectSettings, readUserSettings, type SettingsReading } from './settings-file.ts';
import type { Setting } from './source.ts';
import { parseToml, type TomlFile } from './toml-file.ts';

export interface ConfigFile {
  readonly path: string;
  readonly scope: 'user' | 'project';
  readonly state: 'absent' | 'read' | 'broken' | UntrustedState;
}

/** Of a project's file: nobody has trusted it, or not with what it holds now. */
type UntrustedState = 'untrusted' | 'changed';

/** What one file contributes. */
interface FileReading {
  readonly file: ConfigFile;
  readonly layer: Layer;
}

/** The user's files, the weaker first: another product's settings, then Muster's own. */
export async function readUser(place: UserPlace): Promise<readonly FileReading[]> {
  const path = userConfigFile(place);
  const own = await tomlReading({ path, scope: 'user' }, readUserSettings(path), fileLayer);
  const claude = userClaudeFile(place.home);
  const settings = { ...claude, scope: 'user' } as const;
  return [...claudeReading(settings, readUserSettings(claude.path)), own];
}

interface ProjectPlace extends UserPlace {
  readonly cwd: string;
  readonly trust: ProjectTrust;
}

/** The project's files, as far as they are there; `user`: what holds without them. */
export async function readProject(
  { cwd, home, trust }: ProjectPlace,
  user: ReadonlyMap<string, Setting>,
): Promise<readonly FileReading[]> {
  const claude = projectClaudeFiles(cwd, home).flatMap(({ path, directory, boundary }) => {
    const reading = readProjectSettings({ kind: 'permissions', path, boundary }, trust);
    return claudeReading({ path, directory, scope: 'project' }, reading);
  });
  const own: FileReading[] = [];
  for (const path of findConfigFiles(cwd)) {
    const reading = readProjectSettings(
      { kind: 'config', path, boundary: projectRoot(cwd) },
      trust,
    );
    const layerOf = (file: TomlFile): Layer => projectLayer(file, user);
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

/** One that is not there is not worth a word: most people have none. */
function claudeReading(
  settings: Omit<ClaudeSettings, 'text'>,
  reading: SettingsReading,
): readonly FileReading[] {
  const { path, scope } = settings;
  if (reading.kind === 'absent') return [];
  if (reading.kind !== 'read') return [withoutLayer({ path, scope }, reading)];
  const layer = claudeLayer({ ...settings, text: reading.text });
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
      const told = { where: oneLine(named.path), message: reading.message };
      const file: ConfigFile = { ...named, state: 'broken' };
      // Whoever puts a pipe or a link into a project must not be able to keep Muster from starting.
      return named.scope === 'project'
        ? {
            file,
            layer: { ...EMPTY_LAYER, notices: [{ ...told, message: `${told.message} Ignored.` }] },
          }
        : { file, layer: { ...EMPTY_LAYER, problems: [told] } };
    }
  }
}
