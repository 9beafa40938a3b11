import { dirname } from 'node:path';
import type { ProjectFileKind } from '../sys/project-file.ts';
import { readClaudeSettings } from './claude-settings.ts';
import { EMPTY_LAYER, type Layer } from './layer.ts';
import { readUserSettings } from './load.ts';
import type { UserEnvironment } from './paths.ts';
import { readProjectConfig } from './project-layer.ts';
import { parseToml } from './parse-toml.ts';

interface PreviewedFile {
  readonly kind: ProjectFileKind;
  readonly path: string;
  readonly directory?: string;
}

/** What a settings file of a project would contribute, were it trusted. */
export async function previewProjectFile(
  { kind, path, directory = dirname(path) }: PreviewedFile,
  text: string,
  place: UserEnvironment,
): Promise<Layer> {
  if (kind === 'permissions')
    return readClaudeSettings({ path, text, directory, scope: 'project' });
  const parsed = await parseToml(path, text);
  if (!parsed.ok) return { ...EMPTY_LAYER, problems: [parsed.problem] };
  return readProjectConfig(parsed.file, await readUserSettings(place));
}
