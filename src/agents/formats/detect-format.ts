import { type Identified, isMarkdown, type DefinitionFormat } from '../loader/format.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { AGENT_VENDORS, type AgentVendor } from './vendors.ts';

const VENDORS_BY_DIRECTORY: ReadonlyMap<string, AgentVendor> = new Map(
  AGENT_VENDORS.flatMap((vendor) =>
    vendor.detection.directories.map((name) => [name, vendor] as const),
  ),
);

/** The vendors with fields of their own in the front matter, in the order in which they are tested. */
const WITH_OWN_FIELDS = AGENT_VENDORS.filter(
  ({ detection }) => detection.frontMatter !== undefined,
).toSorted((a, b) => testRank(a) - testRank(b));

function testRank({ detection }: AgentVendor): number {
  return detection.isTestedLast === true ? 1 : 0;
}

const VENDORS_BY_NAME: ReadonlyMap<string, AgentVendor> = new Map(
  AGENT_VENDORS.map((vendor) => [vendor.agents.vendor, vendor]),
);

/** The number of characters at the start of a file in which the front matter is searched for. */
const MAX_FRONT_MATTER_LENGTH = 8192;

/**
 * Detects the format of a file in any location, by its directories, its name and its content. A markdown file that
 * shows no vendor has Claude Code's format, which most products share. Returns undefined if the file has none of the
 * formats.
 *
 * @param path the path of the file, absolute or relative to `root`
 * @param root the absolute path of the scanned directory, which is considered only if the directory belongs to a vendor
 */
export function detectFormat(path: string, text: string, root = ''): DefinitionFormat | undefined {
  const parts = path.split('/');
  const fileName = parts.at(-1) ?? '';
  const directories = parts.slice(0, -1).toReversed();
  const formatIfAccepted = (vendor: AgentVendor | undefined): DefinitionFormat | undefined =>
    vendor?.agents.accepts(fileName) === true ? vendor.agents : undefined;
  const named = directories
    .map((name) => VENDORS_BY_NAME.get(name.toLowerCase()))
    .find((vendor) => vendor !== undefined);
  return (
    findVendorByFileName(fileName)?.agents ??
    formatIfAccepted(findVendorByDirectory(directories)) ??
    formatIfAccepted(findVendorByDirectory(root.split('/').toReversed())) ??
    formatIfAccepted(findVendorByFields(text)) ??
    formatIfAccepted(named) ??
    formatIfAccepted(VENDORS_BY_NAME.get('claude')) ??
    formatIfAccepted(
      AGENT_VENDORS.find(
        (each) => formatIfAccepted(each) !== undefined && each.detection.isAgent?.(text),
      ),
    )
  );
}

/**
 * Returns the vendor of the innermost directory that belongs to a vendor, such as `.claude`, or `muster` in
 * `~/.config`.
 */
function findVendorByDirectory(innermostFirst: readonly string[]): AgentVendor | undefined {
  for (const [index, name] of innermostFirst.entries()) {
    const vendor = VENDORS_BY_DIRECTORY.get(name);
    if (vendor !== undefined) return vendor;
    if (innermostFirst[index + 1] !== '.config') continue;
    const named = VENDORS_BY_NAME.get(name);
    if (named !== undefined) return named;
  }
  return undefined;
}

function findVendorByFileName(fileName: string): AgentVendor | undefined {
  return AGENT_VENDORS.find(({ detection }) => detection.fileName?.test(fileName));
}

function findVendorByFields(text: string): AgentVendor | undefined {
  const start = text.slice(0, MAX_FRONT_MATTER_LENGTH);
  const end = start.search(/\n---[ \t]*\r?\n/);
  const front = end === -1 ? start : start.slice(0, end);
  return WITH_OWN_FIELDS.find(({ detection }) => detection.frontMatter?.test(front));
}

/** Identifies a file in a scan: its format, or the reason why it was not meant as an agent. */
export async function identifyAgentFile(
  path: string,
  text: string,
  root: string,
): Promise<Identified<AgentDefinition>> {
  const parts = path.split('/');
  const fileName = parts.at(-1) ?? '';
  if (fileName === 'SKILL.md') {
    return skipFile('It is a skill (see `muster skills list`), and not an agent.');
  }
  if (findVendorByFileName(fileName) === undefined && !isVendorLocation(`${root}/${path}`)) {
    const directories = [...keepVendorPart(root.split('/')), ...parts.slice(0, -1)];
    const owner = findLastVendorDirectory(directories);
    const inside = directories.slice(owner + 1);
    const isInAgentDirectory =
      directories[owner] === 'droids' || inside.some((each) => AGENT_DIRECTORY.test(each));
    if (!isInAgentDirectory && isMarkdown(fileName) && owner >= 0 && inside.length > 0) {
      return skipFile('It does not lie where its product keeps agents.');
    }
    const isData = !isInAgentDirectory && !isMarkdown(fileName) && !isAgentText(text);
    if (isData && (owner >= 0 || detectFormat(path, text, root) === undefined)) {
      return { kind: 'ignored' };
    }
  }
  const format = detectFormat(path, text, root);
  return format === undefined ? skipFile('It holds no agent.') : { kind: 'format', format };
}

/** Matches the names of directories in which vendors and collections keep agents. */
const AGENT_DIRECTORY = /agent|chatmode|droid|recipe|^modes?$/i;

function skipFile(reason: string): Identified<AgentDefinition> {
  return { kind: 'skipped', code: 'not-an-agent', reason };
}

function isAgentText(text: string): boolean {
  return AGENT_VENDORS.some(({ detection }) => detection.isAgent?.(text));
}

/** Returns whether a file is itself a search location of a vendor, such as `.codex/config.toml`. */
function isVendorLocation(path: string): boolean {
  return AGENT_VENDORS.some(({ agents }) =>
    agents.locations.project.some((location) => path.endsWith(`/${location}`)),
  );
}

function findLastVendorDirectory(directories: readonly string[]): number {
  return directories.findLastIndex((name) => VENDORS_BY_DIRECTORY.has(name));
}

/**
 * Returns the part of the scanned directory's path that begins with a vendor's directory. The rest of the path says
 * nothing about the vendor.
 */
function keepVendorPart(directories: readonly string[]): readonly string[] {
  const owner = findLastVendorDirectory(directories);
  return owner < 0 ? [] : directories.slice(owner);
}
