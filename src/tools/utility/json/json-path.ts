import { MusterError } from '../../../base/errors.ts';
import { nearestFirst } from '../../../base/near-names.ts';
import { plural, truncate } from '../../../base/text.ts';
import type { JsonNode } from './json-tree.ts';

/** `name`, `.name`, `[0]`, `["any name"]`. */
const STEP = /(?:^|\.)([^.[\]"]+)|\[(-?\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;
const MAX_NAMED = 10;
const MAX_NAME = 60;

/**
 * The part of a tree that a path like `a.b[0]["c.d"]` names; a leading `$` is the whole, `[-1]` the last
 * item. Of members of the same name the last one counts. Throws INVALID_PARAM for what is no path,
 * NOT_FOUND where it leads nowhere.
 */
export function nodeAt(root: JsonNode, path: string): JsonNode {
  let node = root;
  let at = path.startsWith('$') ? 1 : 0;
  while (at < path.length) {
    STEP.lastIndex = at;
    const found = STEP.exec(path);
    if (found === null) throw noPath(path, at);
    const [step, name, index, quoted] = found;
    node =
      index === undefined
        ? member(node, name ?? unquoted(quoted, path, at), path.slice(0, at))
        : item(node, Number(index), path.slice(0, at));
    at += step.length;
  }
  return node;
}

function noPath(path: string, at: number): MusterError {
  const message = `path: is not understood at character ${at + 1}: ${JSON.stringify(truncate(path, MAX_NAME))}; valid: a.b[0]["c"]`;
  return new MusterError('INVALID_PARAM', message);
}

function unquoted(quoted: string | undefined, path: string, at: number): string {
  try {
    return String(JSON.parse(quoted ?? ''));
  } catch {
    // An escape that JSON has not.
    throw noPath(path, at);
  }
}

function member(node: JsonNode, name: string, before: string): JsonNode {
  if (node.kind !== 'object') throw leadsNowhere(before, `${kindOf(node)}, which has no names`);
  const found = node.members.findLast((each) => each.name === name);
  if (found !== undefined) return found.value;
  const names = nearestFirst(name, [...new Set(node.members.map((each) => each.name))]);
  const shown = names.slice(0, MAX_NAMED).map((each) => JSON.stringify(truncate(each, MAX_NAME)));
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  const has = shown.length === 0 ? 'it is empty' : `it has ${shown.join(', ')}${more}`;
  throw leadsNowhere(
    before,
    `an object without ${JSON.stringify(truncate(name, MAX_NAME))}: ${has}`,
  );
}

function item(node: JsonNode, index: number, before: string): JsonNode {
  if (node.kind !== 'array') throw leadsNowhere(before, `${kindOf(node)}, which has no items`);
  const found = node.items.at(index);
  if (found !== undefined) return found;
  throw leadsNowhere(
    before,
    `a list of ${plural(node.items.length, 'item')}: there is no [${index}]`,
  );
}

function kindOf(node: JsonNode): string {
  if (node.kind !== 'scalar') return node.kind === 'array' ? 'a list' : 'an object';
  if (node.raw.startsWith('"')) return 'a string';
  return /^[-\d]/.test(node.raw) ? 'a number' : node.raw;
}

function leadsNowhere(before: string, what: string): MusterError {
  const place = before === '' || before === '$' ? 'the whole' : before;
  return new MusterError('NOT_FOUND', `path: ${truncate(place, MAX_NAME)} is ${what}`);
}
