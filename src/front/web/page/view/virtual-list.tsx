import {
  defaultRangeExtractor,
  elementScroll,
  measureElement,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualItem,
  type VirtualizerOptions,
} from '@tanstack/virtual-core';
import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

type ListVirtualizer = Virtualizer<HTMLDivElement, HTMLDivElement>;

/** The functions of a list for its owner. */
export interface VirtualListHandle {
  /** Scrolls until the item is visible. */
  reveal(index: number): void;
  /** Scrolls to the end. */
  toEnd(): void;
  /** Returns whether the end of the list is visible. */
  isAtEnd(): boolean;
}

interface VirtualListProps {
  readonly count: number;
  /** The expected height of an item in pixels. */
  readonly itemHeight: number;
  /** True if each item may have another height, which is then measured. */
  readonly isMeasured: boolean;
  readonly keyOf: (index: number) => string;
  readonly renderItem: (index: number) => ComponentChildren;
  /** The item that is kept although it is out of sight, because it has the focus; null: none. */
  readonly keptIndex: number | null;
  readonly handle: { current: VirtualListHandle | null };
  readonly onScroll?: () => void;
  /** The attributes of the element that scrolls. */
  readonly container: JSX.IntrinsicElements['div'];
}

/** The number of items that are drawn beyond the visible ones at each end. */
const OVERSCAN = 4;
/** The distance from the end, in pixels, that still counts as the end. */
const END_DISTANCE = 40;

/** A list that only holds the elements of the items in sight. */
export function VirtualList(props: VirtualListProps) {
  const { count, itemHeight, isMeasured, keyOf, renderItem, keptIndex, handle, container } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [, setDrawn] = useState(0);
  const virtualizer = useRef<ListVirtualizer | null>(null);
  const options: VirtualizerOptions<HTMLDivElement, HTMLDivElement> = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => itemHeight,
    getItemKey: keyOf,
    overscan: OVERSCAN,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    measureElement,
    rangeExtractor: (range) => {
      const indexes = defaultRangeExtractor(range);
      if (keptIndex === null || keptIndex >= count || indexes.includes(keptIndex)) return indexes;
      return [...indexes, keptIndex].toSorted((a, b) => a - b);
    },
    onChange: () => {
      setDrawn((drawn) => drawn + 1);
      props.onScroll?.();
    },
  };
  virtualizer.current ??= new Virtualizer(options);
  const list = virtualizer.current;
  list.setOptions({ ...list.options, ...options });
  useLayoutEffect(() => list._didMount(), [list]);
  useLayoutEffect(() => {
    list._willUpdate();
  });
  handle.current = {
    reveal: (index) => {
      list.scrollToIndex(index, { align: 'auto' });
    },
    toEnd: () => {
      list.scrollToIndex(count - 1, { align: 'end' });
    },
    isAtEnd: () => {
      const element = scroller.current;
      if (element === null) return true;
      return element.scrollHeight - element.scrollTop - element.clientHeight < END_DISTANCE;
    },
  };
  return (
    <div {...container} ref={scroller}>
      <div role="presentation" class="virtual" style={{ height: `${list.getTotalSize()}px` }}>
        {list.getVirtualItems().map((item: VirtualItem) => (
          <div
            key={item.key}
            role="presentation"
            class={isMeasured ? 'item' : 'item fixed'}
            data-index={item.index}
            ref={(element) => {
              if (isMeasured && element !== null) list.measureElement(element);
            }}
            style={{
              transform: `translateY(${item.start}px)`,
              ...(isMeasured ? {} : { height: `${item.size}px` }),
            }}
          >
            {renderItem(item.index)}
          </div>
        ))}
      </div>
    </div>
  );
}
