import { createHash } from 'node:crypto';
import type { ConversationPart } from './conversation-text.ts';
import { html } from '../base/html.ts';

const STYLE = `
:root { color-scheme: light dark; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; }
h2 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; font: inherit; }
details { margin: 1.5rem 0; padding-left: 1rem; border-left: 3px solid #8888; }
summary { font-weight: bold; cursor: pointer; }
pre.verbatim { font: 13px/1.4 ui-monospace, monospace; padding: .5rem; border: 1px solid #8888; border-radius: 6px; }
`;

/** Writes the beginning of a page with a conversation: self-contained, without scripts and network access. */
export function conversationPageStart(title: string): string {
  const hash = createHash('sha256').update(STYLE).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${html(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${html(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${html(title)}</h1>
`;
}

export function partAsHtml({ heading, text, form }: ConversationPart): string {
  const className = form === 'verbatim' ? ' class="verbatim"' : '';
  return `<h2>${html(heading)}</h2>\n<pre${className}>${html(text, 'prose')}</pre>\n`;
}

export const CONVERSATION_PAGE_END = '</body>\n</html>\n';
