import type { AgentDefinition } from '../protocol/agent.ts';
import { lookUpAgent, type AgentList } from './find-agent.ts';
import { lazy } from '../base/lazy.ts';

/**
 * `@name`, or `@"display name"`. The characters before it must not make it the end of a word, an e-mail address or
 * a path. After it, there must be no `/`, which makes it a path or a scoped package, and no `(`, which makes it code.
 */
const MENTION = lazy(
  () =>
    /(?<![\p{L}\p{N}_.@/\\:={-])@(?:"([^"\n]{1,220})"|([\p{L}\p{N}_][\p{L}\p{N}_.:-]{0,219})(?![.:-]*[\p{L}\p{N}_/\\(@]))/gu,
);
/** Text from stdin, and code: it does not address an agent. */
export const QUOTED_TEXT =
  /<stdin>[\s\S]*?(?:<\/stdin>|(?![\s\S]))|^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1|(?![\s\S]))|`[^`\n]*`/gm;
/** A tag of a documentation tool after the start of a comment: it is pasted code. */
const TAGGED = new RegExp(
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
/** The end of a mention that Claude Code inserts from its list. */
const KIND = / \(agent\)$/i;
const PREFIX = /^agent-/i;
const SENTENCE_MARKS = /[.:-]+$/;

/**
 * Returns the agents that a prompt mentions with `@`, in order and without duplicates: `@name`, `@agent-name` or
 * `@"display name (agent)"`, by name, id or alias. Any other `@word` is text, as are words in code, in text from
 * stdin, and tags in comments (` * @summary`, `{@link …}`).
 */
export function findMentionedAgents(prompt: string, agents: AgentList): AgentList {
  if (!prompt.includes('@')) return [];
  const found = new Set<AgentDefinition>();
  for (const [, quoted, word] of prompt
    .replaceAll(QUOTED_TEXT, ' ')
    .replaceAll(TAGGED, ' ')
    .matchAll(MENTION())) {
    const agent =
      quoted === undefined
        ? agentOfMention(word ?? '', agents)
        : lookUpAgent(quoted.replace(KIND, ''), agents);
    if (agent !== undefined) found.add(agent);
  }
  return [...found];
}

/** Finds the agent as written, otherwise without punctuation at the end of a sentence, otherwise without `agent-`. */
function agentOfMention(word: string, agents: AgentList): AgentDefinition | undefined {
  const bare = word.replace(SENTENCE_MARKS, '');
  for (const name of [word, bare, word.replace(PREFIX, ''), bare.replace(PREFIX, '')]) {
    const agent = lookUpAgent(name, agents);
    if (agent !== undefined) return agent;
  }
  return undefined;
}
