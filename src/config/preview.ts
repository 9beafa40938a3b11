import { dirname } from 'node:path';
import type { ProjectFileKind } from '../sys/files/project-file.ts';
import { claudeLayer } from './claude-settings.ts';
import { EMPTY_LAYER, type Layer } from './layer.ts';
import { userSettings } from './load.ts';
import type { UserPlace } from './paths.ts';
import { projectLayer } from './project-layer.ts';
import { parseToml } from './toml-file.ts';

interface PreviewedFile {
  readonly kind: ProjectFileKind;
  readonly path: string;
  readonly directory?: string;
}

/** What a settings file of a project would contribute, were it trusted. */
export async function previewLayer(
  { kind, path, directory = dirname(path) }: PreviewedFile,
  text: string,
  place: UserPlace,
): Promise<Layer> {
  if (kind === 'permissions') return claudeLayer({ path, text, directory, scope: 'project' });
  const parsed = await parseToml(path, text);
  if (!parsed.ok) return { ...EMPTY_LAYER, problems: [parsed.problem] };
  return projectLayer(parsed.file, await userSettings(place));
}
