import { descendants, lineText, PageElement } from './element.ts';

/** Puts the title of each tab before its panel, where a reader of the text needs it, and removes the rows of tabs. */
export function placeTabTitles(body: PageElement): void {
  const tabs = new Map<string, PageElement>();
  const panels: PageElement[] = [];
  for (const element of descendants(body)) {
    const role = element.attribute('role');
    if (role === 'tabpanel') panels.push(element);
    else if (role === 'tab') {
      const controls = element.attribute('aria-controls');
      if (controls !== '') tabs.set(`panel ${controls}`, element);
      const id = element.attribute('id');
      if (id !== '') tabs.set(`tab ${id}`, element);
    }
  }
  const placed = new Set<PageElement>();
  for (const panel of panels) {
    const tab =
      tabs.get(`panel ${panel.attribute('id')}`) ??
      tabs.get(`tab ${panel.attribute('aria-labelledby')}`);
    if (tab !== undefined && placeTitle(tab, panel)) placed.add(tab);
  }
  for (const parent of new Set([...placed].map((tab) => tab.parent))) {
    if (parent !== null) {
      parent.children = parent.children.filter(
        (child) => typeof child === 'string' || !placed.has(child),
      );
    }
  }
}

/** Puts a title before a panel. Tells whether the title of the tab is now there. */
function placeTitle(tab: PageElement, panel: PageElement): boolean {
  const text = lineText(tab);
  if (text === '' || text.length > 200 || panel.children[0] === undefined) return false;
  const title = new PageElement('p');
  const strong = new PageElement('strong');
  strong.append(text);
  title.append(strong);
  title.parent = panel;
  panel.children.unshift(title);
  panel.hasBlocks = true;
  return true;
}
