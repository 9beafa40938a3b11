/** What some products run in a text before the model gets it. */
const COMMAND = /(?:^|\s)!`[^`\n]+`|^```!/m;

/** Whether a text holds commands that another product would run before the model gets it. */
export function holdsCommands(body: string): boolean {
  return (body.includes('!`') || body.includes('```!')) && COMMAND.test(body);
}
