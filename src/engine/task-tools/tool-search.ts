import { unescapeTags } from '../../base/control-tags.ts';
import { plural } from '../../base/text.ts';
import type { JsonValue } from '../../base/json.ts';
import type {
  AnyTool,
  Tool,
  ToolContext,
  ToolOutput,
  ValidationResult,
} from '../../protocol/tool.ts';
import { fitLines } from '../../tools/shared/output.ts';
import { type EngineContext, requireCaller } from '../delegation/engine-context.ts';
import { isResourceTool } from '../../protocol/tool-names.ts';
import { isMcpTool } from '../prompt/listed-tools.ts';
import { ArgumentReader } from './argument-reader.ts';

/** The maximum number of tools that a search by words returns. */
const MAX_FOUND = 8;
const NOTE_BYTES = 200;

interface SearchInput {
  readonly query: string;
}

/** Creates the tool that finds tools of MCP servers which the requests of a task do not list. */
export function toolSearchTool(engine: EngineContext): Tool<SearchInput> {
  return {
    name: 'ToolSearch',
    kind: 'meta',
    replay: 'pure',
    description:
      'Find tools of MCP servers by words or by exact names (comma-separated), with their schemas. Call them with McpCall.',
    inputSchema: {
      type: 'object',
      properties: { query: { type: 'string' } },
      required: ['query'],
    },
    parse,
    run: async ({ query }, context) => describeFound(engine, query, context),
  };
}

function parse(value: JsonValue): ValidationResult<SearchInput> {
  const reader = new ArgumentReader(value, ['query']);
  const query = reader.text('query', 'words or names of tools');
  return reader.result({ query });
}

function describeFound(engine: EngineContext, query: string, context: ToolContext): ToolOutput {
  const all = [...requireCaller(engine, context).view.values()].filter(
    ({ name }) => isMcpTool(name) && !isResourceTool(name),
  );
  const found = searchTools(all, query);
  if (found.length === 0) {
    return {
      text: `No tool matches "${query}". There are ${plural(all.length, 'tool')} of servers.`,
    };
  }
  return { text: formatFoundTools(found, context.caps.resultBytes) };
}

/** Formats tools with their schemas, one on each line, as far as they fit into `maxBytes`, and names the others. */
export function formatFoundTools(found: readonly AnyTool[], maxBytes: number): string {
  // Look-alikes of tags in these texts are marked already, and the result of a tool is marked as a whole.
  const lines = found.map(({ name, description, inputSchema }) =>
    unescapeTags(JSON.stringify({ name, description, inputSchema })),
  );
  const fitted = fitLines(lines, maxBytes - NOTE_BYTES);
  const left = found.slice(fitted.lines.length).map(({ name }) => name);
  const note = left.length === 0 ? [] : [`[not shown: ${left.join(', ')}]`];
  return [...fitted.lines, ...note].join('\n');
}

/**
 * Finds tools by exact names, or else by words in their names and descriptions, the best first. A word in the name
 * counts more than one in the description, and a rare word more than a common one.
 */
export function searchTools(tools: readonly AnyTool[], query: string): readonly AnyTool[] {
  const names = new Set(query.split(/[\s,]+/).filter((name) => name !== ''));
  const exact = tools.filter(({ name }) => names.has(name) || names.has(shortName(name)));
  if (exact.length > 0) return exact;
  const words = splitWords(query);
  const texts = tools.map((tool) => ({
    tool,
    name: splitWords(tool.name),
    description: splitWords(tool.description),
  }));
  const weigh = (word: string): number => {
    const count = texts.filter(({ name, description }) =>
      [...name, ...description].some((each) => matches(each, word)),
    ).length;
    return count === 0 ? 0 : Math.log(1 + texts.length / count);
  };
  const weights = new Map(words.map((word) => [word, weigh(word)]));
  const scored = texts.map(({ tool, name, description }) => {
    const score = words.reduce((sum, word) => {
      const weight = weights.get(word) ?? 0;
      if (name.some((each) => matches(each, word))) return sum + 3 * weight;
      return description.some((each) => matches(each, word)) ? sum + weight : sum;
    }, 0);
    return { tool, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
    .slice(0, MAX_FOUND)
    .map(({ tool }) => tool);
}

function shortName(name: string): string {
  return name.slice(name.lastIndexOf('__') + 2);
}

function splitWords(text: string): readonly string[] {
  const spaced = text.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2');
  return spaced.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Tells whether a word of a tool matches a word of a query, also in another form: `issue` and `issues`. */
function matches(word: string, wanted: string): boolean {
  if (word === wanted) return true;
  const [short, long] = word.length < wanted.length ? [word, wanted] : [wanted, word];
  return short.length >= 4 && long.startsWith(short) && long.length - short.length <= 3;
}
