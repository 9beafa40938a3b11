import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  filterByText,
  matchedIndexes,
  searchedText,
} from '../../../../src/front/tui/model/fuzzy-match.ts';
import {
  createPicker,
  scrollToSelected,
  select,
  selectedItem,
  setItems,
  setPreview,
  setQuery,
  toggleWide,
  type Picker,
  type PickerItem,
} from '../../../../src/front/tui/model/picker.ts';

function filter(titles: readonly string[], typed: string): readonly string[] {
  return filterByText(titles, typed, (title) => searchedText(title, ''));
}

describe('a filter', () => {
  it.each<readonly [string, readonly string[], readonly string[]]>([
    ['', ['b', 'a'], ['b', 'a']],
    ['  ', ['b', 'a'], ['b', 'a']],
    ['ret', ['a retry', 'retry', 'deterrent ret', 'x'], ['retry', 'a retry', 'deterrent ret']],
    ['retry', ['retry limit', 'retry'], ['retry', 'retry limit']],
    ['LIMIT retry', ['retry', 'Retry limit', 'limit'], ['Retry limit']],
    ['rtry', ['red tree', 'retry', 'x'], ['retry']],
    ['gpt5', ['gpt-5', 'gpt-4'], ['gpt-5']],
    ['son', ['claude-sonnet', 'person', 'sonata'], ['sonata', 'claude-sonnet', 'person']],
    ['zzz', ['a', 'b'], []],
    ['a', [], []],
  ])('%j of %j is %j', (typed, titles, expected) => {
    expect(filter(titles, typed)).toEqual(expected);
  });

  it('finds words in the details, after those in titles', () => {
    const items = [
      { title: 'one', details: 'retry' },
      { title: 'retry', details: '' },
    ];
    const found = filterByText(items, 'retry', ({ title, details }) =>
      searchedText(title, details),
    );
    expect(found.map(({ title }) => title)).toEqual(['retry', 'one']);
  });

  const word = fc.string({ unit: fc.constantFrom(...'abc-'), minLength: 1, maxLength: 6 });
  const title = fc.array(word, { maxLength: 5 }).map((words) => words.join(' '));

  it('finds every title that contains the typed text, and never adds an item', () => {
    fc.assert(
      fc.property(fc.array(title), word, (titles, typed) => {
        const found = filter(titles, typed);
        expect(titles).toEqual(expect.arrayContaining([...found]));
        for (const each of titles) if (each.includes(typed)) expect(found).toContain(each);
      }),
    );
  });

  it('finds only titles that contain the letters in their order', () => {
    fc.assert(
      fc.property(fc.array(title), word, (titles, typed) => {
        const letters = new RegExp([...typed].join('.*'));
        for (const each of filter(titles, typed)) expect(each).toMatch(letters);
      }),
    );
  });

  it('marks the letters that match', () => {
    const marked = (typed: string, text: string) =>
      [...matchedIndexes([typed], text)].map((index) => text[index]).join('');
    expect(marked('try', 'Retry limit')).toBe('try');
    expect(marked('rlm', 'Retry limit')).toBe('rlm');
    expect(marked('x', 'Retry')).toBe('');
  });
});

const item = (id: string, change: Partial<PickerItem> = {}): PickerItem => ({
  id,
  title: id,
  cells: [],
  ...change,
});

describe('a picker', () => {
  const picker = createPicker('history', [
    item('alpha'),
    item('beta'),
    item('far', { isElsewhere: true }),
  ]);
  const titles = ({ matches }: Picker) => matches.map(({ id }) => id);

  it('shows items of elsewhere only after the toggle', () => {
    expect(titles(picker)).toEqual(['alpha', 'beta']);
    const wide = toggleWide(select(picker, 1));
    expect([titles(wide), selectedItem(wide)?.id]).toEqual([['alpha', 'beta', 'far'], 'beta']);
    expect(titles(toggleWide(wide))).toEqual(['alpha', 'beta']);
  });

  it('selects the best match of a new filter', () => {
    expect(selectedItem(setQuery(select(picker, 1), 'a'))?.id).toBe('alpha');
    expect(selectedItem(setQuery(picker, 'zzz'))).toBeUndefined();
  });

  it('keeps the selected item when items arrive, unless the user has not moved', () => {
    const more = [item('new'), ...picker.items];
    const loaded = { isLoading: false, note: '' };
    expect(selectedItem(setItems(picker, more, loaded))?.id).toBe('new');
    expect(selectedItem(setItems(select(picker, 1), more, loaded))?.id).toBe('beta');
  });

  it('keeps a bounded number of previews', () => {
    let filled = picker;
    for (let index = 0; index < 100; index += 1) filled = setPreview(filled, `${index}`, []);
    expect([...filled.previews.keys()].at(-1)).toBe('99');
    expect(filled.previews.size).toBe(40);
  });

  it('always has the selected item in view', () => {
    const many = createPicker(
      'history',
      Array.from({ length: 50 }, (_, index) => item(`item ${index}`)),
    );
    const step = fc.oneof(
      fc
        .integer({ min: -60, max: 60 })
        .map((by) => (each: Picker) => select(each, each.selected + by)),
      fc.constantFrom('', '1', '4', 'zzz').map((text) => (each: Picker) => setQuery(each, text)),
      fc.constant(toggleWide),
    );
    fc.assert(
      fc.property(fc.array(step), fc.integer({ min: 1, max: 60 }), (steps, height) => {
        let each = many;
        for (const change of steps) each = scrollToSelected(change(each), height);
        const { top, selected, matches } = each;
        expect(selected).toBeGreaterThanOrEqual(top);
        expect(selected).toBeLessThan(top + height);
        expect(top).toBeLessThanOrEqual(Math.max(0, matches.length - height));
        expect(selectedItem(each) === undefined).toBe(matches.length === 0);
      }),
    );
  });
});
