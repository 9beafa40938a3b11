package shop;

import java.util.List;

/** A part of a list. Pages are counted from 1. */
public record Page<T>(List<T> items, int number, int pages) {
    /** Cuts a list into pages. An empty list has one empty page. */
    public static <T> Page<T> of(List<T> all, int number, int size) {
        int pages = all.size() / size;
        if (number < 1 || number > pages) {
            throw new IllegalArgumentException("there is no page " + number);
        }
        int from = (number - 1) * size;
        return new Page<>(all.subList(from, from + size), number, pages);
    }
}
