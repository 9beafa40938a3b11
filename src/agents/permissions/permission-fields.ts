import type { JsonValue } from '../../base/json.ts';
import type { AgentDefinition, AgentProblem } from '../../protocol/agent.ts';
import { TOOL_NAMES } from '../../protocol/tool-names.ts';
import { toSafeMessage, type Field, type Fields, type SourceLine } from '../parsing/fields.ts';
import { mergeRules } from '../fields/common.ts';
import { readPermissionEntries, readToolSwitches, type PermissionEntry } from './entries.ts';
import { translatePermissions, type TranslatedPermissions } from './translate.ts';
import { splitToolList } from '../fields/tool-grants.ts';

/** The fields for permissions. The second one is the newer name. Each field is read by itself, and both apply. */
const PERMISSION_FIELDS = ['permission', 'permissions'];

/** The maximum number of permissions that a message names. */
const MAX_NAMES = 10;

interface ReadPermissions {
  readonly outcomes: readonly TranslatedPermissions[];
  readonly problems: readonly (Pick<AgentProblem, 'code' | 'message'> & {
    readonly line: SourceLine;
  })[];
}

/**
 * Translates the permissions and tool switches that deny all calls of a tool into lists of tools, which the shared
 * reader of fields reads.
 *
 * @param vendor the vendor whose names for tools are used
 */
export function translateToToolLists(fields: Fields, vendor: string): Fields {
  const shared = new Map(fields);
  const field = PERMISSION_FIELDS.map((name) => fields.get(name)).find(
    (each) => each !== undefined,
  );
  for (const name of PERMISSION_FIELDS) shared.delete(name);
  const tools = fields.get('tools');
  const { outcomes } = readPermissions(fields, { vendor });
  const line = (tools ?? field)?.line;
  const onlyAllowed = findOnlyTools(outcomes);
  const denied = listDeniedTools(outcomes);
  setDenied(
    shared,
    outcomes.flatMap(({ deniedServers }) => deniedServers),
    line,
  );
  if (tools !== undefined && readToolSwitches(tools.value) === undefined) {
    const others =
      onlyAllowed === undefined ? [] : TOOL_NAMES.filter((name) => !onlyAllowed.includes(name));
    const servers =
      onlyAllowed === undefined || onlyAllowed.some((name) => name.startsWith('mcp__'));
    setDenied(shared, [...denied, ...others, ...(servers ? [] : ['mcp__*'])], line);
  } else if (onlyAllowed !== undefined) {
    const allow = onlyAllowed.filter((name) => !denied.includes(name));
    shared.set('tools', { value: { mode: 'allow', allow }, line });
  } else if (denied.length > 0) {
    shared.set('tools', { value: { mode: 'deny', deny: denied }, line });
  } else shared.delete('tools');
  return shared;
}

function setDenied(fields: Map<string, Field>, denied: readonly string[], line: SourceLine): void {
  if (denied.length === 0) return;
  const key = [...fields.keys()].find((name) => /^disallowed[-_]?tools$/i.test(name));
  const existing = key === undefined ? undefined : fields.get(key);
  const words = existing === undefined ? [] : splitToolList(existing.value);
  // A list that cannot be read already has the effect that the agent gets no tools.
  if (words === undefined) return;
  fields.set(key ?? 'disallowed-tools', {
    value: [...words, ...denied],
    line: existing?.line ?? line,
  });
}

export interface PermissionOptions {
  readonly vendor: string;
  /**
   * Permissions that apply before those of the file. The file's permissions may allow calls that these permissions
   * deny.
   */
  readonly before?: readonly PermissionEntry[];
}

/**
 * Adds the parts of the permissions to an agent that lists of tools cannot express: rules, the agents to which it may
 * delegate, and problems.
 */
export function addPermissionRules(
  agent: AgentDefinition,
  fields: Fields,
  options: PermissionOptions,
): AgentDefinition {
  const { outcomes, problems } = readPermissions(fields, options);
  const ask = [...new Set(outcomes.flatMap(({ rules }) => rules.ask))];
  const existing = readPermissions(fields, { vendor: options.vendor }).outcomes;
  const deny = [
    ...new Set([
      ...listDeniedBefore(outcomes, existing),
      ...outcomes.flatMap(({ rules }) => rules.deny),
    ]),
  ];
  const delegates = outcomes.flatMap(({ delegatesTo }) => (delegatesTo ? [delegatesTo] : []));
  const [first] = delegates;
  const { path } = agent.origin;
  const shownProblems = problems.map(({ code, message, line }) => {
    const shown = { code, message: toSafeMessage(message), path };
    return line === undefined ? shown : Object.assign(shown, { line });
  });
  return {
    ...agent,
    ...mergeRules(agent.rules, ask.length + deny.length === 0 ? undefined : { ask, deny }),
    ...(first === undefined
      ? {}
      : { delegatesTo: first.filter((name) => delegates.every((each) => each.includes(name))) }),
    problems: [...agent.problems, ...shownProblems],
  };
}

/**
 * Returns the tools that only the permissions before those of the file deny, so that the lists of tools from the file
 * do not contain them.
 */
function listDeniedBefore(
  all: readonly TranslatedPermissions[],
  existing: readonly TranslatedPermissions[],
): readonly string[] {
  const onlyAllowed = findOnlyTools(existing) === undefined ? findOnlyTools(all) : undefined;
  const others =
    onlyAllowed === undefined ? [] : TOOL_NAMES.filter((name) => !onlyAllowed.includes(name));
  const ownDenied = listDeniedTools(existing);
  return [
    ...listDeniedTools(all).filter((name) => !ownDenied.includes(name)),
    ...others,
    ...(onlyAllowed === undefined ? [] : ['mcp__*']),
  ];
}

function listDeniedTools(outcomes: readonly TranslatedPermissions[]): readonly string[] {
  return [...new Set(outcomes.flatMap(({ denied }) => denied))];
}

function findOnlyTools(outcomes: readonly TranslatedPermissions[]): readonly string[] | undefined {
  const lists = outcomes.flatMap((outcome) => (outcome.onlyTools ? [outcome.onlyTools] : []));
  return lists[0]?.filter((name) => lists.every((list) => list.includes(name)));
}

function readPermissions(fields: Fields, options: PermissionOptions): ReadPermissions {
  const { vendor, before = [] } = options;
  const switches = readToolSwitches(fields.get('tools')?.value ?? null) ?? [];
  const [first = '', ...newer] = PERMISSION_FIELDS;
  const present = newer.filter((name) => fields.has(name));
  const isFirst = fields.has(first) || switches.length > 0 || present.length === 0;
  const read = [
    ...(isFirst ? [readField(fields.get(first), [...before, ...switches], vendor)] : []),
    ...present.map((name) => readField(fields.get(name), before, vendor)),
  ];
  return {
    outcomes: read.flatMap(({ outcomes }) => outcomes),
    problems: read.flatMap(({ problems }) => problems),
  };
}

function readField(
  field: Field | undefined,
  before: readonly PermissionEntry[],
  vendor: string,
): ReadPermissions {
  const { entries, unreadable } = readPermissionEntries(field?.value ?? null);
  const outcome = translatePermissions([...before, ...entries], vendor);
  const messages: (readonly [code: string, message: string])[] = [];
  if (unreadable.length > 0) {
    const what = formatNames(unreadable);
    const message = `Not a permission: ${what}; it counts as denied. Valid: allow, ask, deny.`;
    messages.push(['invalid-permission', message]);
  }
  if (outcome.narrowed.length > 0) {
    const message = `Rules cannot express the patterns of ${formatNames(outcome.narrowed)} exactly: more calls are asked about or denied than was written.`;
    messages.push(['permission-patterns', message]);
  }
  if (outcome.unknown.length > 0) {
    const message = `It denies or asks about ${formatNames(outcome.unknown)}, and there is no such tool.`;
    messages.push(['unknown-tool', message]);
  }
  if (deniesOutside(entries)) {
    const message =
      '`external_directory: deny` has no equivalent: a person is asked about files outside the workspace.';
    messages.push(['permission-patterns', message]);
  }
  const problems = messages.map(([code, message]) => ({ code, message, line: field?.line }));
  return { outcomes: [outcome], problems };
}

function formatNames(list: readonly string[]): string {
  const more = list.length > MAX_NAMES ? `, and ${list.length - MAX_NAMES} more` : '';
  return (
    list
      .slice(0, MAX_NAMES)
      .map((name) => `\`${name}\``)
      .join(', ') + more
  );
}

function deniesOutside(entries: readonly PermissionEntry[]): boolean {
  return entries.some(
    ({ permission, action }) => permission === 'external_directory' && action === 'deny',
  );
}

/** Reads the permissions that a settings file sets for all its agents. */
export function readSharedPermissions(
  permission: JsonValue,
  tools: JsonValue,
): readonly PermissionEntry[] {
  return [...(readToolSwitches(tools) ?? []), ...readPermissionEntries(permission).entries];
}
