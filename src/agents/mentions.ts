import type { AgentDefinition } from '../protocol/agent.ts';
import { lookUpAgent } from './find-agent.ts';
import type { AgentList } from './agent-id.ts';
import { lazy } from '../base/lazy.ts';

/**
 * Matches `@name` and `@"display name"`, unless the character before the `@` makes it a part of a word, an e-mail
 * address or a path. After the name there must be no `/`, as in a path or a scoped package, and no `(`, as in code.
 */
const MENTION = lazy(
  () =>
    /(?<![\p{L}\p{N}_.@/\\:={-])@(?:"([^"\n]{1,220})"|([\p{L}\p{N}_][\p{L}\p{N}_.:-]{0,219})(?![.:-]*[\p{L}\p{N}_/\\(@]))/gu,
);
/** Matches text from stdin, and code. A mention in such text does not address an agent. */
export const QUOTED_TEXT =
  /<stdin>[\s\S]*?(?:<\/stdin>|(?![\s\S]))|^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1|(?![\s\S]))|`[^`\n]*`/gm;
/** Matches a tag of a documentation tool after the start of a comment, which is a sign of pasted code. */
const COMMENT_TAG = new RegExp(
  String.raw`^[ \t]*(?:/?\*{1,2}|//[/!]?|#+|--|;+|%+)[ \t]*@(?:${[
    'abstract|access|alias|api|async|author|brief|callback|category|class|constant|constructor',
    'copyright|default|deprecated|description|details|enum|event|example|exception|exports|extends',
    'external|file|fires|function|global|ignore|implements|inheritdoc|interface|internal|kind|license',
    'link|listens|member|memberof|method|module|name|namespace|note|override|package|param|parameter',
    'post|pre|private|property|protected|public|readonly|remarks|requires|returns?|sealed|see|since',
    'static|summary|template|test|this|throws|todo|tutorial|type|typedef|version|virtual|warning|yields?',
  ].join('|')})\b`,
  'gim',
);
/** Matches the end of a mention that Claude Code inserts from its list of agents. */
const KIND_SUFFIX = / \(agent\)$/i;
const PREFIX = /^agent-/i;
const SENTENCE_MARKS = /[.:-]+$/;

/**
 * Returns the agents that a prompt mentions with `@`, in order and without duplicates: `@name`, `@agent-name` or
 * `@"display name (agent)"`, by name, id or alias. Any other `@word` is text, and so are words in code, words in text
 * from stdin, and tags in comments (` * @summary`, `{@link …}`).
 */
export function findMentionedAgents(prompt: string, agents: AgentList): AgentList {
  if (!prompt.includes('@')) return [];
  const found = new Set<AgentDefinition>();
  for (const [, quoted, word] of prompt
    .replaceAll(QUOTED_TEXT, ' ')
    .replaceAll(COMMENT_TAG, ' ')
    .matchAll(MENTION())) {
    const agent =
      quoted === undefined
        ? findMentionedAgent(word ?? '', agents)
        : lookUpAgent(quoted.replace(KIND_SUFFIX, ''), agents);
    if (agent !== undefined) found.add(agent);
  }
  return [...found];
}

/**
 * Finds the agent of a mention: by the word as it is written, else without punctuation at its end, else without the
 * prefix `agent-`.
 */
function findMentionedAgent(word: string, agents: AgentList): AgentDefinition | undefined {
  const bare = word.replace(SENTENCE_MARKS, '');
  for (const name of [word, bare, word.replace(PREFIX, ''), bare.replace(PREFIX, '')]) {
    const agent = lookUpAgent(name, agents);
    if (agent !== undefined) return agent;
  }
  return undefined;
}
