/** The words of a text in lower case: letters and digits, also with single apostrophes between them (`don't`). */
export function words(text: string): string[] {
  const found: string[] = [];
  for (const token of text.toLowerCase().split(/[^a-z0-9']+/)) {
    const match = /^'*((?:[a-z0-9]+'?)*[a-z0-9])'*$/.exec(token);
    if (match !== null) found.push(match[1]);
    else for (const part of token.split(/''+/)) found.push(part.replace(/^'|'$/g, ''));
  }
  return found.filter((word) => word !== '');
}
