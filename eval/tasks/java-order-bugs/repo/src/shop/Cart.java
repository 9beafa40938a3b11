package shop;

import java.util.LinkedHashMap;
import java.util.Map;

/** The articles that a customer wants, with their quantities, in the order in which they were first added. */
public final class Cart {
    private final Map<Sku, Integer> quantities = new LinkedHashMap<>();

    public void add(Sku sku, int quantity) {
        if (quantity <= 0) {
            throw new IllegalArgumentException("quantity: " + quantity);
        }
        quantities.merge(sku, quantity, Integer::sum);
    }

    /** Removes an article. Returns false if it was not in the cart. */
    public boolean remove(Sku sku) {
        return quantities.remove(sku) > 0;
    }

    /** Removes all articles that the catalogue does not know any more. */
    public void removeUnknown(Catalogue catalogue) {
        for (Sku sku : quantities.keySet()) {
            if (catalogue.find(sku) == null) {
                quantities.remove(sku);
            }
        }
    }

    /** Whether two carts have the same articles in the same quantities, in any order. */
    public boolean isSameAs(Cart other) {
        if (quantities.size() != other.quantities.size()) {
            return false;
        }
        for (Sku sku : quantities.keySet()) {
            if (quantities.get(sku) != other.quantities.get(sku)) {
                return false;
            }
        }
        return true;
    }

    public Map<Sku, Integer> quantities() {
        return quantities;
    }
}
