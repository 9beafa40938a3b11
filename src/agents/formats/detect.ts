import { FORMATS } from './vendors.ts';
import { isMarkdown } from './file-names.ts';
import type { AgentFormat } from '../loader/kind.ts';

/** Directories that belong to one vendor. The last one on a path decides. */
const VENDOR_DIRECTORIES: ReadonlyMap<string, string> = new Map([
  ['.muster', 'muster'],
  ['.gen', 'gen'],
  ['.claude', 'claude'],
  ['.claude-plugin', 'claude'],
  ['.opencode', 'opencode'],
  ['.gemini', 'gemini'],
  ['.qwen', 'qwen'],
  ['.copilot', 'copilot'],
  ['.github', 'copilot'],
  ['.cursor', 'cursor'],
  ['.factory', 'factory'],
  ['droids', 'factory'],
  ['.kiro', 'kiro'],
  ['.codex', 'codex'],
  ['.goose', 'goose'],
  ['.pi', 'pi'],
]);

/** Front matter keys that one vendor alone documents. */
const VENDOR_KEYS: readonly (readonly [vendor: string, keys: RegExp])[] = [
  [
    'opencode',
    /^(?:mode:\s*(?:primary|subagent|all)\b|permissions?:\s*$|top_p:|steps:|maxSteps:)/m,
  ],
  [
    'gemini',
    /^(?:kind:\s*(?:local|remote)\b|agent_card_url:|agent_card_json:|max_turns:|timeout_mins:|mcp_servers:)/m,
  ],
  ['qwen', /^(?:approvalMode|modelConfig|runConfig|executor):/m],
  ['cursor', /^(?:readonly|is_background):/m],
  ['factory', /^(?:reasoningEffort):/m],
  [
    'kiro',
    /^(?:toolsSettings|toolAliases|includeMcpJson|useLegacyMcpJson|keyboardShortcut|welcomeMessage):/m,
  ],
  ['pi', /^(?:thinking|systemPromptMode|inheritProjectContext|inheritSkills):/m],
  ['copilot', /^(?:handoffs|argument-hint|user-invocable|infer|target):/m],
  [
    'muster',
    /^(?:result-max-tokens|wall-seconds|delegates-to|refuses-questions|ask-rules|deny-rules|unlisted):/m,
  ],
];

/** What a text of a format looks like whose ending many things share. */
const SIGNS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['kiro', isKiroJson],
  ['codex', (text) => /^[ \t]*(?:developer_instructions[ \t]*=|\[agents\.)/m.test(text)],
  ['goose', isRecipe],
]);

/** A field of Kiro's own, and one that every agent has. */
function isKiroJson(text: string): boolean {
  const own = /"(?:allowedTools|toolsSettings|toolAliases|useLegacyMcpJson|includeMcpJson)"\s*:/;
  return own.test(text) && /"(?:prompt|description)"\s*:/.test(text);
}

/** A title, and what it is to do, at the outermost level of YAML or the next, or anywhere in JSON. */
function isRecipe(text: string): boolean {
  const before = /^\s*\{/.test(text.slice(0, 100)) ? '' : '^[ \\t]{0,8}';
  const has = (key: string): boolean =>
    new RegExp(`${before}"?\\b(?:${key})"?[ \\t]*:`, 'm').test(text);
  return has('title') && has('instructions|prompt');
}

/** A word on a path that names a vendor: `examples/opencode/agents`. */
const VENDOR_WORDS: ReadonlySet<string> = new Set(FORMATS.map(({ vendor }) => vendor));

/** Characters of a file in which its front matter is looked for. */
const HEAD = 8192;

/**
 * The format of a file that lies anywhere, by its directories, its name, and what it holds; Claude
 * Code's, which most share, for any other markdown file. Undefined: of no format. `path` is relative to
 * `below`, the absolute path of what is searched, of which only a vendor's own directory says something.
 */
export function detectFormat(path: string, text: string, below = ''): AgentFormat | undefined {
  const parts = path.split('/');
  const fileName = parts.at(-1) ?? '';
  const directories = parts.slice(0, -1).toReversed();
  const fits = (vendor: string | undefined): AgentFormat | undefined =>
    FORMATS.find((format) => format.vendor === vendor && format.accepts(fileName));
  return (
    byFileName(fileName) ??
    fits(ownerOf(directories)) ??
    fits(ownerOf(below.split('/').toReversed())) ??
    fits(byKeys(text)) ??
    fits(directories.map((each) => each.toLowerCase()).find((each) => VENDOR_WORDS.has(each))) ??
    FORMATS.find((format) => format.vendor === 'claude' && format.accepts(fileName)) ??
    FORMATS.find((format) => format.accepts(fileName) && SIGNS.get(format.vendor)?.(text) === true)
  );
}

/** Whose the innermost directory is that belongs to one vendor: `.claude`, or `muster` of `~/.config`. */
function ownerOf(innermostFirst: readonly string[]): string | undefined {
  for (const [index, name] of innermostFirst.entries()) {
    const owner = VENDOR_DIRECTORIES.get(name);
    if (owner !== undefined) return owner;
    if (innermostFirst[index + 1] === '.config' && VENDOR_WORDS.has(name)) return name;
  }
  return undefined;
}

/** Directories in which vendors, and collections, keep agents. */
const AGENT_DIRECTORY = /agent|chatmode|droid|recipe|^modes?$/i;

/** What is plainly no agent, by where it lies and what it is called. */
export type NoAgent =
  | 'skill'
  /** What a product keeps beside its agents: commands, rules, templates. */
  | 'elsewhere'
  /** Settings and the like, of which any tree is full. */
  | 'data';

/** A file that is a vendor's place by itself, such as `.codex/config.toml`. */
function isOwnPlace(path: string): boolean {
  return FORMATS.some(({ places }) => places.project.some((place) => path.endsWith(`/${place}`)));
}

/** Why a file that lies anywhere was not meant as an agent; undefined: it may have been. As `detectFormat`. */
export function noAgentAt(path: string, text: string, below = ''): NoAgent | undefined {
  const parts = path.split('/');
  const fileName = parts.at(-1) ?? '';
  if (fileName === 'SKILL.md') return 'skill';
  if (byFileName(fileName) !== undefined || isOwnPlace(`${below}/${path}`)) return undefined;
  const directories = [...fromOwner(below.split('/')), ...parts.slice(0, -1)];
  const owner = directories.findLastIndex((each) => VENDOR_DIRECTORIES.has(each));
  const inside = directories.slice(owner + 1);
  const isKept =
    directories[owner] === 'droids' || inside.some((each) => AGENT_DIRECTORY.test(each));
  if (isKept) return undefined;
  if (isMarkdown(fileName)) return owner >= 0 && inside.length > 0 ? 'elsewhere' : undefined;
  const isTold = [...SIGNS.values()].some((isOne) => isOne(text));
  return isTold || (owner < 0 && detectFormat(path, text, below) !== undefined)
    ? undefined
    : 'data';
}

/** Of what is searched only a vendor's own directory says something. */
function fromOwner(directories: readonly string[]): readonly string[] {
  const owner = directories.findLastIndex((each) => VENDOR_DIRECTORIES.has(each));
  return owner < 0 ? [] : directories.slice(owner);
}

/** Names that belong to one vendor wherever they lie. */
function byFileName(fileName: string): AgentFormat | undefined {
  const vendor =
    fileName === 'SUBAGENT.md'
      ? 'subagent'
      : /\.(?:agent|chatmode)\.md$/i.test(fileName)
        ? 'copilot'
        : /^opencode\.jsonc?$/.test(fileName)
          ? 'opencode'
          : undefined;
  return FORMATS.find((format) => format.vendor === vendor);
}

function byKeys(text: string): string | undefined {
  const head = text.slice(0, HEAD);
  const end = head.search(/\n---[ \t]*\r?\n/);
  const front = end === -1 ? head : head.slice(0, end);
  return VENDOR_KEYS.find(([, keys]) => keys.test(front))?.[0];
}
