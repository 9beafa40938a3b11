import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { parseJsonc } from '../../base/jsonc.ts';
import { MAX_SETTINGS_BYTES } from '../../config/settings-file.ts';
import { describeAction, describeMoment } from '../../hooks/hook-definition.ts';
import { convertHooks, HOOK_PRODUCTS } from '../../hooks/product-hooks.ts';
import { readHooks } from '../../hooks/read-hooks.ts';
import type { HookEventName } from '../../protocol/hook.ts';
import { readHookCondition } from '../../trust/hook-conditions.ts';
import { projectHooksFile, userHooksFile } from '../../trust/hook-files.ts';
import type { StateOptions } from '../../trust/state-directory.ts';
import { changeJsonFile, unchangeableFile } from '../setup/json-file.ts';
import { readProductText } from '../setup/product-text.ts';

/** The hooks of one file of another product. */
interface FoundHooks {
  readonly product: string;
  readonly file: string;
  /** One line for each hook that can be imported: the event, the matcher and the command. */
  readonly hooks: readonly string[];
  /** The hooks that have no equivalent or cannot be used: one sentence each. */
  readonly missing: readonly string[];
  /** A hint what a person should check; null for nothing. */
  readonly note: string | null;
}

/** The hooks that were found in the files of other products. */
export interface HookImport {
  /** The file into which hooks are written. */
  readonly target: string;
  readonly files: readonly FoundHooks[];
  /** The number of groups of hooks that the file does not have yet. */
  readonly newCount: number;
  /** The files that could not be read, each with the reason. */
  readonly problems: readonly string[];
  /** Adds the groups of hooks that the file does not have yet. Throws MusterError if the file cannot be changed. */
  add(): Promise<void>;
}

/**
 * Finds the hooks that other products have. Changes nothing. Hooks of a project are imported only into the project's own
 * file, where they need trust, because in the user's file they would have the rights of the user's hooks.
 */
export async function findHooksToImport(
  state: StateOptions,
  scope: 'user' | 'project',
): Promise<HookImport> {
  const { home, cwd } = state;
  const target = scope === 'user' ? userHooksFile(state) : projectHooksFile(cwd);
  const problems: string[] = [];
  const found = HOOK_PRODUCTS.flatMap((product) => {
    const [base, paths] =
      scope === 'user' ? [home, product.userFiles] : [cwd, product.projectFiles];
    return paths.flatMap((path) => {
      const file = join(base, path);
      const content = readContent({ path: file, scope }, cwd);
      if (content === null) return [];
      if ('problem' in content) {
        problems.push(`${file}: ${content.problem}`);
        return [];
      }
      const { groups, missing } = convertHooks(product, content.value);
      if (groups.size === 0 && missing.length === 0) return [];
      const source = { kind: scope, where: file } as const;
      const read = readHooks(Object.fromEntries(groups) as JsonObject, source, readHookCondition);
      const hooks = read.hooks.map(
        (hook) => `${describeMoment(hook)}: ${describeAction(hook.action)}`,
      );
      const note = hooks.length === 0 ? null : product.note;
      const all = [...missing, ...read.problems];
      return [{ groups, shown: { product: product.name, file, hooks, missing: all, note } }];
    });
  });
  const present = readPresent(target, scope, cwd);
  const groups = found.flatMap((each) => [...each.groups]);
  return {
    target,
    files: found.map(({ shown }) => shown),
    newCount: groups.flatMap(([event, list]) => selectNew(present, event, list)).length,
    problems,
    add: () =>
      changeJsonFile(target, { maxBytes: MAX_SETTINGS_BYTES, isPrivate: true }, (file) => {
        const { hooks = {} } = file;
        if (!isJsonObject(hooks)) throw unchangeableFile(target, 'hooks is not an object');
        return { ...file, hooks: addGroups(hooks, groups) };
      }),
  };
}

type Content = { readonly value: JsonValue } | { readonly problem: string };

function readContent(
  file: { readonly path: string; readonly scope: 'user' | 'project' },
  project: string,
): Content | null {
  const text = readProductText(file, project);
  if (text === null || 'problem' in text) return text;
  const parsed = parseJsonc(text.text);
  return parsed.ok ? { value: parsed.value as JsonValue } : { problem: 'it is not valid JSON' };
}

function readPresent(path: string, scope: 'user' | 'project', project: string): JsonObject {
  const content = readContent({ path, scope }, project);
  const value = content !== null && 'value' in content ? content.value : {};
  const hooks = isJsonObject(value) ? value['hooks'] : undefined;
  return isJsonObject(hooks) ? hooks : {};
}

/** Adds the groups that an event does not have yet. */
function addGroups(
  hooks: JsonObject,
  groups: readonly (readonly [HookEventName, readonly JsonObject[]])[],
): JsonObject {
  const merged = new Map(Object.entries(hooks));
  for (const [event, list] of groups) {
    const present = Object.fromEntries(merged) as JsonObject;
    merged.set(event, [...listGroups(present, event), ...selectNew(present, event, list)]);
  }
  return Object.fromEntries(merged) as JsonObject;
}

function listGroups(hooks: JsonObject, event: HookEventName): readonly JsonValue[] {
  const groups = hooks[event];
  return Array.isArray(groups) ? groups : [];
}

function selectNew(
  hooks: JsonObject,
  event: HookEventName,
  groups: readonly JsonObject[],
): readonly JsonObject[] {
  const own = listGroups(hooks, event);
  return groups.filter((group) => !own.some((each) => isDeepStrictEqual(each, group)));
}
