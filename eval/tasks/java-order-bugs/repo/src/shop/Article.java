package shop;

import java.math.BigDecimal;
import java.util.List;

/** An article of the catalogue. The price is the net price of one piece. */
public final class Article {
    private final Sku sku;
    private final String name;
    private final BigDecimal price;
    private final long stock;
    private final List<String> tags;

    public Article(Sku sku, String name, BigDecimal price, long stock, List<String> tags) {
        this.sku = sku;
        this.name = name;
        this.price = price;
        this.stock = stock;
        this.tags = tags;
    }

    public Sku sku() {
        return sku;
    }

    public String name() {
        return name;
    }

    public BigDecimal price() {
        return price;
    }

    public long stock() {
        return stock;
    }

    public List<String> tags() {
        return tags;
    }
}
