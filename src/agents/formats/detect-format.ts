import { type Identified, isMarkdown, type DefinitionFormat } from '../loader/format.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { AGENT_VENDORS, type AgentVendor } from './vendors.ts';

const VENDOR_OF_DIRECTORY: ReadonlyMap<string, AgentVendor> = new Map(
  AGENT_VENDORS.flatMap((vendor) =>
    vendor.detection.directories.map((name) => [name, vendor] as const),
  ),
);

/** Vendors with fields of their own in the front matter, in the order in which these are tested. */
const WITH_OWN_FIELDS = AGENT_VENDORS.filter(
  ({ detection }) => detection.frontMatter !== undefined,
).toSorted((a, b) => testRank(a) - testRank(b));

function testRank({ detection }: AgentVendor): number {
  return detection.isTestedLast === true ? 1 : 0;
}

const VENDOR_OF_NAME: ReadonlyMap<string, AgentVendor> = new Map(
  AGENT_VENDORS.map((vendor) => [vendor.agents.vendor, vendor]),
);

/** The number of characters of a file in which its front matter is looked for. */
const MAX_FRONT_MATTER = 8192;

/**
 * Returns the format of a file that may lie anywhere, from its directories, its name and its content. Any other
 * markdown file has Claude Code's format, which most products share. Undefined: it has none of the formats.
 * @param path absolute, or relative to `root`
 * @param root the absolute path of the directory that is scanned, which counts only if it belongs to a vendor itself
 */
export function detectFormat(path: string, text: string, root = ''): DefinitionFormat | undefined {
  const parts = path.split('/');
  const fileName = parts.at(-1) ?? '';
  const directories = parts.slice(0, -1).toReversed();
  const accepted = (vendor: AgentVendor | undefined): DefinitionFormat | undefined =>
    vendor?.agents.accepts(fileName) === true ? vendor.agents : undefined;
  const named = directories
    .map((name) => VENDOR_OF_NAME.get(name.toLowerCase()))
    .find((vendor) => vendor !== undefined);
  return (
    vendorOfFileName(fileName)?.agents ??
    accepted(vendorOfDirectories(directories)) ??
    accepted(vendorOfDirectories(root.split('/').toReversed())) ??
    accepted(vendorOfFields(text)) ??
    accepted(named) ??
    accepted(VENDOR_OF_NAME.get('claude')) ??
    accepted(
      AGENT_VENDORS.find((each) => accepted(each) !== undefined && each.detection.isAgent?.(text)),
    )
  );
}

/** Returns the vendor of the innermost directory that belongs to one: `.claude`, or `muster` in `~/.config`. */
function vendorOfDirectories(innermostFirst: readonly string[]): AgentVendor | undefined {
  for (const [index, name] of innermostFirst.entries()) {
    const vendor = VENDOR_OF_DIRECTORY.get(name);
    if (vendor !== undefined) return vendor;
    if (innermostFirst[index + 1] !== '.config') continue;
    const named = VENDOR_OF_NAME.get(name);
    if (named !== undefined) return named;
  }
  return undefined;
}

function vendorOfFileName(fileName: string): AgentVendor | undefined {
  return AGENT_VENDORS.find(({ detection }) => detection.fileName?.test(fileName));
}

function vendorOfFields(text: string): AgentVendor | undefined {
  const start = text.slice(0, MAX_FRONT_MATTER);
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
    return notAnAgent('It is a skill (see `muster skills list`), and not an agent.');
  }
  if (vendorOfFileName(fileName) === undefined && !isLocationItself(`${root}/${path}`)) {
    const directories = [...ownedPart(root.split('/')), ...parts.slice(0, -1)];
    const owner = lastOwned(directories);
    const inside = directories.slice(owner + 1);
    const isInAgentDirectory =
      directories[owner] === 'droids' || inside.some((each) => AGENT_DIRECTORY.test(each));
    if (!isInAgentDirectory && isMarkdown(fileName) && owner >= 0 && inside.length > 0) {
      return notAnAgent('It does not lie where its product keeps agents.');
    }
    const isData = !isInAgentDirectory && !isMarkdown(fileName) && !isAgentText(text);
    if (isData && (owner >= 0 || detectFormat(path, text, root) === undefined)) {
      return { kind: 'ignored' };
    }
  }
  const format = detectFormat(path, text, root);
  return format === undefined ? notAnAgent('It holds no agent.') : { kind: 'format', format };
}

/** The names of directories in which vendors, and collections, keep agents. */
const AGENT_DIRECTORY = /agent|chatmode|droid|recipe|^modes?$/i;

function notAnAgent(reason: string): Identified<AgentDefinition> {
  return { kind: 'skipped', code: 'not-an-agent', reason };
}

function isAgentText(text: string): boolean {
  return AGENT_VENDORS.some(({ detection }) => detection.isAgent?.(text));
}

/** Whether a file is itself a location of a vendor, such as `.codex/config.toml`. */
function isLocationItself(path: string): boolean {
  return AGENT_VENDORS.some(({ agents }) =>
    agents.locations.project.some((location) => path.endsWith(`/${location}`)),
  );
}

function lastOwned(directories: readonly string[]): number {
  return directories.findLastIndex((name) => VENDOR_OF_DIRECTORY.has(name));
}

/** Returns the part of the scanned directory's path from a vendor's directory on: nothing else says anything about the vendor. */
function ownedPart(directories: readonly string[]): readonly string[] {
  const owner = lastOwned(directories);
  return owner < 0 ? [] : directories.slice(owner);
}
