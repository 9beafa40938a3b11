import type { AgentDefinition } from '../protocol/agent.ts';
import { lookUpAgent } from './find-agent.ts';
import { lazy } from '../base/lazy.ts';

/**
 * `@name`, or `@"display name"`. Before it nothing that makes it the end of a word, an e-mail address
 * or a path; behind it no `/`, which makes it a path or a scoped package, and no `(`, which makes it code.
 */
const MENTION = lazy(
  () =>
    /(?<![\p{L}\p{N}_.@/\\:={-])@(?:"([^"\n]{1,220})"|([\p{L}\p{N}_][\p{L}\p{N}_.:-]{0,219})(?![.:-]*[\p{L}\p{N}_/\\(@]))/gu,
);
/** What came along from stdin, and code: a person's words about a text, but none of theirs to an agent. */
export const QUOTED =
  /<stdin>[\s\S]*?(?:<\/stdin>|(?![\s\S]))|^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1|(?![\s\S]))|`[^`\n]*`/gm;
/** What documentation tools know as a tag, behind the mark of a comment: pasted code. */
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
/** As Claude Code writes a mention out of its list. */
const KIND = / \(agent\)$/i;
const PREFIX = /^agent-/i;
const SENTENCE_MARKS = /[.:-]+$/;

/**
 * The agents that a person's prompt names with `@`, in the order in which they are named, each once:
 * `@name`, `@agent-name` or `@"display name (agent)"`, by name, id or alias. An `@word` that no agent
 * has is text, as is one in code, in what stdin brought along, or that is a tag of a comment
 * (` * @summary`, `{@link …}`).
 */
export function mentionedAgents(
  prompt: string,
  agents: readonly AgentDefinition[],
): readonly AgentDefinition[] {
  if (!prompt.includes('@')) return [];
  const found = new Set<AgentDefinition>();
  for (const [, quoted, word] of prompt
    .replaceAll(QUOTED, ' ')
    .replaceAll(TAGGED, ' ')
    .matchAll(MENTION())) {
    const agent =
      quoted === undefined
        ? agentOfWord(word ?? '', agents)
        : lookUpAgent(quoted.replace(KIND, ''), agents);
    if (agent !== undefined) found.add(agent);
  }
  return [...found];
}

/** As written, else without the marks that end a sentence; with its `agent-`, else without. */
function agentOfWord(
  word: string,
  agents: readonly AgentDefinition[],
): AgentDefinition | undefined {
  const bare = word.replace(SENTENCE_MARKS, '');
  for (const name of [word, bare, word.replace(PREFIX, ''), bare.replace(PREFIX, '')]) {
    const agent = lookUpAgent(name, agents);
    if (agent !== undefined) return agent;
  }
  return undefined;
}
