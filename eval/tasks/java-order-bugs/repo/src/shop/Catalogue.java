package shop;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

public final class Catalogue {
    private final Map<Sku, Article> articles = new HashMap<>();

    /** Adds an article, or replaces the one with the same number. */
    public void put(Article article) {
        articles.put(article.sku(), article);
    }

    /** The article with this number, or null. */
    public Article find(Sku sku) {
        return articles.get(sku);
    }

    /** The articles with all words in their name or tags, upper and lower case being the same; by number. */
    public List<Article> search(String text) {
        String[] words = text.toLowerCase().trim().split(" ");
        return articles.values().stream()
            .filter(article -> matches(article, words))
            .sorted(Comparator.comparing(article -> article.sku().toString()))
            .toList();
    }

    private static boolean matches(Article article, String[] words) {
        String content = (article.name() + " " + String.join(" ", article.tags())).toLowerCase();
        for (String word : words) {
            if (!content.contains(word)) {
                return false;
            }
        }
        return true;
    }

    /** All articles, those with the largest stock first, equal ones by number. */
    public List<Article> byStock() {
        List<Article> all = new ArrayList<>(articles.values());
        all.sort((a, b) -> {
            int difference = (int) (b.stock() - a.stock());
            return difference != 0 ? difference : a.sku().toString().compareTo(b.sku().toString());
        });
        return all;
    }

    /** The articles of each price, cheapest price first, each list by number. */
    public List<List<Article>> byPrice() {
        return articles.values().stream()
            .sorted(Comparator.comparing(article -> article.sku().toString()))
            .collect(Collectors.groupingBy(Article::price))
            .entrySet().stream()
            .sorted(Map.Entry.comparingByKey())
            .map(Map.Entry::getValue)
            .toList();
    }
}
