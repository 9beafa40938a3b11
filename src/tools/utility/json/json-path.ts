import { MusterError } from '../../../base/errors.ts';
import { sortByNearness } from '../../../base/name-suggestions.ts';
import { plural, truncate } from '../../../base/text.ts';
import type { JsonNode } from './json-tree.ts';

/** Matches one step: `name`, `.name`, `[0]`, `["any name"]`. */
const STEP = /(?:^|\.)([^.[\]"]+)|\[(-?\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;
const MAX_NAMED = 10;
const MAX_NAME = 60;

/**
 * Finds the part of a tree that a path like `a.b[0]["c.d"]` names. A leading `$` is the root, `[-1]` the last item. Of
 * several members with the same name the last one counts. Throws INVALID_PARAM for text that is not a path, and
 * NOT_FOUND for a path that leads nowhere.
 */
export function findJsonNode(root: JsonNode, path: string): JsonNode {
  let node = root;
  let at = path.startsWith('$') ? 1 : 0;
  while (at < path.length) {
    STEP.lastIndex = at;
    const found = STEP.exec(path);
    if (found === null) throw syntaxError(path, at);
    const [step, name, index, quoted] = found;
    node =
      index === undefined
        ? member(node, name ?? unquoted(quoted, path, at), path.slice(0, at))
        : item(node, Number(index), path.slice(0, at));
    at += step.length;
  }
  return node;
}

function syntaxError(path: string, at: number): MusterError {
  const message = `path: is not understood at character ${at + 1}: ${JSON.stringify(truncate(path, MAX_NAME))}; valid: a.b[0]["c"]`;
  return new MusterError('INVALID_PARAM', message);
}

function unquoted(quoted: string | undefined, path: string, at: number): string {
  try {
    return String(JSON.parse(quoted ?? ''));
  } catch {
    // It has an escape that JSON does not have.
    throw syntaxError(path, at);
  }
}

function member(node: JsonNode, name: string, before: string): JsonNode {
  if (node.kind !== 'object') throw notFoundError(before, `${kindOf(node)}, which has no names`);
  const found = node.members.findLast((each) => each.name === name);
  if (found !== undefined) return found.value;
  const names = sortByNearness(name, [...new Set(node.members.map((each) => each.name))]);
  const shown = names.slice(0, MAX_NAMED).map((each) => JSON.stringify(truncate(each, MAX_NAME)));
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  const has = shown.length === 0 ? 'it is empty' : `it has ${shown.join(', ')}${more}`;
  throw notFoundError(
    before,
    `an object without ${JSON.stringify(truncate(name, MAX_NAME))}: ${has}`,
  );
}

function item(node: JsonNode, index: number, before: string): JsonNode {
  if (node.kind !== 'array') throw notFoundError(before, `${kindOf(node)}, which has no items`);
  const found = node.items.at(index);
  if (found !== undefined) return found;
  throw notFoundError(
    before,
    `a list of ${plural(node.items.length, 'item')}: there is no [${index}]`,
  );
}

function kindOf(node: JsonNode): string {
  if (node.kind !== 'scalar') return node.kind === 'array' ? 'a list' : 'an object';
  if (node.raw.startsWith('"')) return 'a string';
  return /^[-\d]/.test(node.raw) ? 'a number' : node.raw;
}

function notFoundError(before: string, what: string): MusterError {
  const place = before === '' || before === '$' ? 'the root' : before;
  return new MusterError('NOT_FOUND', `path: ${truncate(place, MAX_NAME)} is ${what}`);
}
