import type { AgentProblem } from '../../protocol/agent.ts';
import type { TemplateDefinition } from '../../protocol/template.ts';
import type { Environment } from '../../sys/env.ts';
import { readProjectFile, untrustedReason, type ProjectTrust } from '../../sys/project-file.ts';
import { builtinTemplates } from '../builtin.ts';
import { MAX_ENTRIES } from '../place-files.ts';
import { agentText, MAX_AGENT_BYTES, readText } from '../read-text.ts';
import type { FoundFile, SkippedPath } from '../walk.ts';
import { templateFilesIn, templatePlaces, type TemplatePlace } from './places.ts';
import { readTemplate } from './read.ts';

/** Bytes of one template. */
export const MAX_TEMPLATE_BYTES = MAX_AGENT_BYTES;

export interface DiscoverTemplatesOptions {
  /** Absolute. */
  readonly cwd: string;
  readonly environment: Environment;
  /** Which files of the project may act. The others are listed as skipped, and not parsed. */
  readonly trust: ProjectTrust;
}

export interface DiscoveredTemplates {
  /** In search order, those that ship with Muster last; no two of the same name, case ignored. */
  readonly templates: readonly TemplateDefinition[];
  /** Templates whose name another one has that was found before it. */
  readonly shadowed: readonly { readonly template: TemplateDefinition; readonly by: string }[];
  /** Files that gave no template, and why; `untrusted` or `changed` where nobody has trusted them. */
  readonly skipped: readonly SkippedPath[];
  /** Files that were meant as templates and could not be loaded. They are in `skipped`, too. */
  readonly problems: readonly AgentProblem[];
}

/** All templates that can be used in a directory; default: those that ship with Muster, too. Never throws for what a file holds. */
export async function discoverTemplates(
  options: DiscoverTemplatesOptions,
  { builtins = true }: { readonly builtins?: boolean } = {},
): Promise<DiscoveredTemplates> {
  const budget = { entries: MAX_ENTRIES };
  const found: TemplateDefinition[] = [];
  const skipped: SkippedPath[] = [];
  const problems: AgentProblem[] = [];
  const refuse = (problem: AgentProblem): void => {
    const { path, code, message } = problem;
    skipped.push({ path, code, reason: message });
    if (code !== 'untrusted' && code !== 'changed') problems.push(problem);
  };
  for (const place of templatePlaces(options.cwd, options.environment)) {
    const files = templateFilesIn(place, budget);
    skipped.push(...(files?.skipped ?? []));
    for (const file of files?.files ?? []) {
      const { path } = file;
      const content = textOf(file, { ...place, boundary: files?.boundary ?? '' }, options.trust);
      if (!content.ok) {
        refuse({ path, code: content.code, message: content.reason });
        continue;
      }
      const read = await readTemplate({ path, scope: place.scope, text: content.text });
      if (read.ok) found.push(read.template);
      else refuse(read.problem);
    }
  }
  for (const source of builtins ? builtinTemplates() : []) {
    const read = await readTemplate({ ...source, scope: 'builtin' });
    if (read.ok) found.push(read.template);
    else refuse(read.problem);
  }
  return { ...shadow(found), skipped, problems };
}

/**
 * Those that the model is told of: all, where the project or the user has some of their own; those that ship
 * with Muster alone are examples, and not worth the bytes in every request.
 */
export async function offeredTemplates(
  options: DiscoverTemplatesOptions,
): Promise<readonly TemplateDefinition[]> {
  const own = await discoverTemplates(options, { builtins: false });
  return own.templates.length === 0 ? [] : (await discoverTemplates(options)).templates;
}

type FileText = ReturnType<typeof readText>;

function textOf(
  { path, realPath }: FoundFile,
  { scope, boundary }: TemplatePlace,
  trust: ProjectTrust,
): FileText {
  if (scope !== 'project') return readText(realPath);
  const request = { kind: 'template', path, boundary, maxBytes: MAX_TEMPLATE_BYTES } as const;
  const reading = readProjectFile(request, trust);
  switch (reading.kind) {
    case 'read':
      return agentText(reading.bytes);
    case 'untrusted': {
      const code = reading.verdict.state === 'new' ? 'untrusted' : 'changed';
      return { ok: false, code, reason: untrustedReason(reading.verdict) };
    }
    case 'refused':
      return { ok: false, code: reading.code, reason: reading.reason };
    case 'absent':
      return { ok: false, code: 'unreadable', reason: 'It was there just now, and is gone.' };
  }
}

/** First wins by name, case ignored. */
function shadow(
  found: readonly TemplateDefinition[],
): Pick<DiscoveredTemplates, 'templates' | 'shadowed'> {
  const templates = new Map<string, TemplateDefinition>();
  const shadowed: { template: TemplateDefinition; by: string }[] = [];
  for (const template of found) {
    const key = template.name.toLowerCase();
    const winner = templates.get(key);
    if (winner === undefined) templates.set(key, template);
    else shadowed.push({ template, by: winner.path });
  }
  return { templates: [...templates.values()], shadowed };
}
